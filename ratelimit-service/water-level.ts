/**
 * Returns the most that each of these sizes may keep, so that all together are at most `room`.
 * Sizes at or below it keep everything. Only the largest give, however many others there are.
 */
export function waterLevel(sizes: readonly number[], room: number): number {
  const rising = [...sizes].sort((a, b) => a - b);
  let left = room;
  for (const [index, size] of rising.entries()) {
    const share = Math.floor(left / (rising.length - index));
    if (size > share) return share;
    left -= size;
  }
  return rising.at(-1) ?? 0;
}
