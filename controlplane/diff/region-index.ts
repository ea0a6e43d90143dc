import { compareText } from '#resources/words/order.ts';
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
  const placed = items.map(item => {
    const region = regionOf(item);
    return { item, region, start: startOf(region) };
  });
  const ofHost = hostIndex(placed, ({ region }) => region.host);
  const known = new Map<string, (start: string) => readonly (typeof placed)[number][]>();
  return region => {
    const found = known.get(region.host) ?? startIndex(ofHost(region.host));
    known.set(region.host, found);
    return found(startOf(region)).flatMap(({ item, region: other }) =>
      meet(other, region) === undefined ? [] : [item],
    );
  };
}

/** Returns what stands before the first star. */
function startOf({ path }: Region): string {
  return path.split('*', 1)[0] ?? '';
}

/** Finds items of which one beginning begins with the other. */
function startIndex<Item extends { readonly start: string }>(items: readonly Item[]) {
  const sorted = items.toSorted((a, b) => compareText(a.start, b.start));
  const byStart = Map.groupBy(items, ({ start }) => start);
  return (start: string): readonly Item[] => {
    const shorter = Array.from(
      { length: start.length },
      (_, length) => byStart.get(start.slice(0, length)) ?? [],
    );
    const from = firstFrom(sorted, start);
    let to = from;
    while (sorted[to]?.start.startsWith(start)) to += 1;
    return [...shorter.flat(), ...sorted.slice(from, to)];
  };
}

/** Returns the index of the first item that does not come before `start`. */
function firstFrom(sorted: readonly { readonly start: string }[], start: string): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareText(sorted[middle]?.start ?? '', start) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
