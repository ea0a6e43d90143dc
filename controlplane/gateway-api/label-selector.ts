import type { LabelSelector } from '#resources/kinds/gateway-api/label-selector.ts';

export type Labels = Readonly<Record<string, string>>;

/**
 * Returns whether all that the selector demands is so. An empty selector selects everything. Where
 * there may be further labels, none is known to be absent.
 */
export function selects(selector: LabelSelector, labels: Labels, areAll = true): boolean {
  const { matchLabels, matchExpressions } = selector;
  return (
    Object.entries(matchLabels).every(([key, value]) => labelOf(labels, key) === value) &&
    matchExpressions.every(requirement => meets(requirement, labels, areAll))
  );
}

function meets(
  { key, operator, values }: LabelSelector['matchExpressions'][number],
  labels: Labels,
  areAll: boolean,
): boolean {
  const value = labelOf(labels, key);
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined ? areAll : !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined && areAll;
  }
}

function labelOf(labels: Labels, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}
