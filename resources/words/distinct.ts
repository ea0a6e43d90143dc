/** Returns each item once, where items of equal JSON are the same. */
export function distinct<Item>(items: readonly Item[]): readonly Item[] {
  return [...new Map(items.map(item => [JSON.stringify(item), item])).values()];
}
