import * as z from 'zod';
import type { LabelAlternative, PatternLabel } from '#resources/labels/label-pattern.ts';
import { type Fields, isFields } from '#resources/words/fields.ts';
import { quoteHint } from '#resources/words/quote-hint.ts';

const FORM = 'a map from label key to value, `""` or `"*"` for any value';

/**
 * An item of a limit's pattern. It is a map whose pairs are alternatives, or a list of such maps. A
 * list is the form in which JSON can hold a key twice. An empty value or `*` matches any value. See
 * docs/explanation/how-a-limit-is-counted.md.
 */
export const patternItem = z
  .unknown()
  .meta({ form: FORM })
  .transform((input, context): PatternLabel => {
    const maps = Array.isArray(input) ? input : [input];
    const mistakes = maps.every(isFields)
      ? maps.flatMap(mistakesOf)
      : [`an item of a pattern must be ${FORM}`];
    const alternatives = maps.filter(isFields).flatMap(alternativesOf);
    if (mistakes.length === 0 && alternatives.length > 0) return alternatives;
    const empty = 'an item of a pattern needs a label. A pattern for every label group is []';
    for (const message of mistakes.length > 0 ? mistakes : [empty]) {
      context.addIssue({ code: 'custom', message });
    }
    return z.NEVER;
  });

/** Returns them in the order of their keys, because Kubernetes keeps no other. */
function alternativesOf(map: Fields): readonly LabelAlternative[] {
  const alternatives = Object.entries(map).map(([key, value]) =>
    value === '' || value === '*' ? { key } : { key, value: String(value) },
  );
  return alternatives.sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)));
}

/** Messages do not quote values, because a label may be a credential. */
function mistakesOf(map: Fields): readonly string[] {
  return Object.entries(map).flatMap(([key, value]) => {
    const empty = key === '' ? ['a label of a pattern needs a key that is not empty'] : [];
    return typeof value === 'string'
      ? empty
      : [...empty, `the value of "${key}" must be a string${hint(value)}`];
  });
}

function hint(value: unknown): string {
  if (value === null) return '. Write "" for any value';
  return typeof value === 'object'
    ? '. Alternatives are written { key: a, key: b }'
    : quoteHint(value);
}
