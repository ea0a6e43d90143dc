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

/** Ways to compare a text. */
export const TEXT_MATCHES = ['Exact', 'RegularExpression'] as const;
