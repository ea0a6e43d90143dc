import { startIndex } from '#resources/match/start-index.ts';
import { hostIndex } from './host-index.ts';
import { meet, type Region } from './region.ts';

/**
 * Returns the function that finds the items whose region has requests in common with another one.
 * Very many items may have the same host, so they are found by how their paths begin.
 */
export function regionIndex<Item>(
  items: readonly Item[],
  regionOf: (item: Item) => Region,
): (region: Region) => readonly Item[] {
  const placed = items.map(item => ({ item, region: regionOf(item) }));
  const ofHost = hostIndex(placed, ({ region }) => region.host);
  const known = new Map<string, (start: string) => Iterable<(typeof placed)[number]>>();
  return region => {
    const found =
      known.get(region.host) ??
      startIndex(ofHost(region.host), ({ region: { path } }) => startOf(path));
    known.set(region.host, found);
    return [...found(startOf(region.path))].flatMap(({ item, region: other }) =>
      meet(other, region) === undefined ? [] : [item],
    );
  };
}

/** Returns what stands before the first star. */
function startOf(path: string): string {
  return path.split('*', 1)[0] ?? '';
}
