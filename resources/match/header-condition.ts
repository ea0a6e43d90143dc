import * as z from 'zod';
import { type Fields, isFields } from '#resources/words/fields.ts';
import { falseByDefault } from '#resources/words/flags.ts';
import { parseHeaderName } from '#resources/words/http-token.ts';
import { checkedString, checkWith, type Parsed } from '#resources/words/parsed-string.ts';
import { parseRe2 } from './re2.ts';

const condition = z
  .object({
    name: checkedString('the name of a header', parseHeaderName).describe(
      'Name of the header, in any letter case. `:method`, `:path` (with query) and `:scheme` too',
    ),
    negate: falseByDefault.describe('The condition holds when the header does not match'),
    value: z
      .string()
      .min(1)
      .check(checkWith(parseValue))
      .exactOptional()
      .meta({ secret: true, form: 'a string that is not empty', isUnset: isOneOfTwo })
      .describe('Exact value. Default: any non-empty value'),
    valueRegex: z
      .string()
      .min(1)
      .check(checkWith(parseRe2))
      .exactOptional()
      .meta({ form: 'an RE2 expression', isUnset: isOneOfTwo })
      .describe(
        'RE2 expression for a part of the value, or `^…$` for all of it. Default: any non-empty value',
      ),
  })
  .check(({ value, issues }) => {
    if (value.value === undefined || value.valueRegex === undefined) return;
    const message = '`value` and `valueRegex` exclude each other. Keep one';
    issues.push({ code: 'custom', message, path: ['valueRegex'], input: value });
  });

/**
 * Selects requests (docs/reference/kinds/filter.md). Clusters with Edge Stack write one without a
 * name where there is none.
 */
export const headerCondition = condition.meta({
  isUnset: (value: unknown) =>
    isFields(value) && [value.name, value.value, value.valueRegex].every(isEmpty),
});

/** Those clusters write both, which are otherwise an error beside each other. */
function isOneOfTwo(value: unknown, beside: Fields): boolean {
  return value === '' && typeof beside.value === 'string' && typeof beside.valueRegex === 'string';
}

function isEmpty(value: unknown): boolean {
  return value === '';
}

export type HeaderCondition = z.output<typeof condition>;

function parseValue(text: string): Parsed<string> {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there (RFC 9110 section 5.5)
  if (/[\x00-\x08\x0a-\x1f\x7f]/.test(text))
    return { error: 'a header value has no control characters' };
  return text.trim() === text
    ? { value: text }
    : { error: 'a header value has no white space at its ends' };
}
