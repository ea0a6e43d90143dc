/** Runs `work` for each item, at most `atOnce` at a time. Resolves with the results in order. */
export async function inTurn<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  const waiting = items.entries();
  const workers = Array.from({ length: atOnce }, async () => {
    // All workers take from the same iterator.
    for (const [at, item] of waiting) results[at] = await work(item);
  });
  await Promise.all(workers);
  return results;
}
