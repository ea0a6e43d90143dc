/** One label of a label group, as it is on the request. */
export type Label = { readonly key: string; readonly value: string };

/** Matches a label of this key; without `value`, whatever its value is. */
export type LabelAlternative = { readonly key: string; readonly value?: string };

/** Matches a label when any of its alternatives does; never empty. */
export type PatternLabel = readonly LabelAlternative[];

/**
 * What a label group must start with, in this order. Empty: every group. Source:
 * docs/explanation/how-a-limit-is-counted.md.
 */
export type LabelPattern = readonly PatternLabel[];

/**
 * How an item of a pattern matches a label: by key and value, by the key alone, or not at all. What
 * names the value wins over what takes any. Source: docs/explanation/how-a-limit-is-counted.md.
 */
export function matchesLabel(item: PatternLabel, label: Label): 'exact' | 'any' | undefined {
  const alternatives = item.filter(({ key }) => key === label.key);
  if (alternatives.some(({ value }) => value === label.value)) return 'exact';
  return alternatives.some(({ value }) => value === undefined) ? 'any' : undefined;
}

/**
 * A text that two patterns share only when they are the same: the same items in the same order. The
 * order of the alternatives within an item and how often one is written do not count.
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
