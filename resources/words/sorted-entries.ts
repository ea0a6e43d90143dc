/**
 * Returns the entries in the order of their keys. So messages about two of them are the same for
 * every source, because a Kubernetes API sorts what it stores.
 */
export function sortedEntries<T>(
  record: Readonly<Record<string, T>>,
): readonly (readonly [key: string, value: T])[] {
  return Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
}
