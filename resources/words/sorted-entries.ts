/**
 * The entries in the order of their keys, so that what is said of two of them is the same wherever
 * they stand: a Kubernetes API sorts what it stores.
 */
export function sortedEntries<T>(
  record: Readonly<Record<string, T>>,
): readonly (readonly [key: string, value: T])[] {
  return Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
}
