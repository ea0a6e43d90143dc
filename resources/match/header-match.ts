import * as z from 'zod';
import { parseHeaderName } from '#resources/words/http-token.ts';
import { sortedEntries } from '#resources/words/sorted-entries.ts';

const VALUE_FORM = 'a string (the exact value) or true (any value)';
const headerValue = z.union([z.string(), z.literal(true)]).meta({ form: VALUE_FORM, secret: true });

/** Header name, in lower case → its exact value, or `true` when any value will do. */
export type HeaderMatch = Readonly<Record<string, string | true>>;

export const headerMatch = z
  .record(z.string(), headerValue)
  .meta({ form: 'a map from header name to its exact value or true' })
  .transform((headers, context): HeaderMatch => {
    const match: Record<string, string | true> = {};
    for (const [key, value] of sortedEntries(headers)) {
      const name = parseHeaderName(key);
      const error =
        'error' in name ? name.error : (valueError(value) ?? repeatError(key, name.value, match));
      if (error !== undefined) context.addIssue({ code: 'custom', message: error, path: [key] });
      else if ('value' in name) match[name.value] = value;
    }
    return match;
  });

function valueError(value: string | true): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there (RFC 9110 section 5.5)
  if (value === true || !/[\x00-\x08\x0a-\x1f\x7f]/.test(value)) return undefined;
  return 'a header value has no control characters';
}

function repeatError(key: string, name: string, match: HeaderMatch): string | undefined {
  return Object.hasOwn(match, name)
    ? `the header "${key}" is named twice. Header names have no case`
    : undefined;
}
