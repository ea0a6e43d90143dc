/** Returns the indices of items that stand in the list before. */
export function repeats(items: readonly string[]): readonly number[] {
  const seen = new Set<string>();
  return items.flatMap((item, index) => {
    const repeated = seen.has(item);
    seen.add(item);
    return repeated ? [index] : [];
  });
}
