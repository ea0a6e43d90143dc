import { whyNoRe2 } from '#resources/match/re2.ts';
import type { Breach } from './rules.ts';

/** Returns a breach when a value that is compared as a regular expression is none. */
export function regexBreaches(
  { type, ...value }: { readonly type: string },
  fields: readonly string[] = ['value'],
): readonly Breach[] {
  if (type !== 'RegularExpression') return [];
  return fields.flatMap(field => {
    const text = (value as Readonly<Record<string, unknown>>)[field];
    const why = typeof text === 'string' ? whyNoRe2(text) : undefined;
    const message = `Cannot parse regular expression: ${why}`;
    return why === undefined ? [] : [{ path: [field], message }];
  });
}

/**
 * Returns the same for parts of one expression, in which each stands in a group. `\Q` without its
 * end would take in what follows the part.
 */
export function regexPartBreaches(
  { type, ...value }: { readonly type: string },
  fields: readonly string[],
): readonly Breach[] {
  const alone = regexBreaches({ type, ...value }, fields);
  if (alone.length > 0) return alone;
  const grouped = Object.entries(value).map(([field, text]) => [field, `(?:${text})`]);
  return regexBreaches({ type, ...Object.fromEntries(grouped) }, fields);
}

/** Ways to compare a text. */
export const TEXT_MATCHES = ['Exact', 'RegularExpression'] as const;
