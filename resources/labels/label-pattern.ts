import { isTargetLabel } from './target-label.ts';

/** One label of a label group, as it is on the request. */
export type Label = { readonly key: string; readonly value: string };

/** Matches a label of this key. Without `value` it matches any value. */
export type LabelAlternative = { readonly key: string; readonly value?: string };

/** Matches a label when any of its alternatives does. Never empty. */
export type PatternLabel = readonly LabelAlternative[];

/**
 * What a label group must start with, in this order. An empty pattern matches every group. See
 * docs/explanation/how-a-limit-is-counted.md.
 */
export type LabelPattern = readonly PatternLabel[];

/**
 * Returns how an item of a pattern matches a label: by key and value, by the key alone, or not at
 * all. An exact value wins over any value. The label of a limit for targets is matched by its value
 * alone. See docs/explanation/how-a-limit-is-counted.md.
 */
export function matchesLabel(item: PatternLabel, label: Label): 'exact' | 'any' | undefined {
  const alternatives = item.filter(({ key }) => key === label.key);
  if (alternatives.some(({ value }) => value === label.value)) return 'exact';
  const isAny = alternatives.some(({ value }) => value === undefined) && !isTargetLabel(label);
  return isAny ? 'any' : undefined;
}

/**
 * Returns a text that two patterns share only when they are the same: the same items in the same
 * order. The order of the alternatives within an item, and repeats of one, do not count.
 */
export function canonicalPattern(pattern: LabelPattern): string {
  return `[${pattern.map(canonicalItem).join(',')}]`;
}

function canonicalItem(item: PatternLabel): string {
  const alternatives = item.map(({ key, value }) =>
    JSON.stringify(value === undefined ? [key] : [key, value]),
  );
  return `[${[...new Set(alternatives)].sort().join(',')}]`;
}
