import { compareText } from '#resources/words/order.ts';
import type { Glob } from './glob.ts';

/** Returns what finds the items of which one beginning begins with the other. */
export function startIndex<Item>(
  items: readonly Item[],
  startOf: (item: Item) => string,
): (start: string) => Iterable<Item> {
  const byStart = Map.groupBy(items, startOf);
  const starts = [...byStart.keys()].sort(compareText);
  const lengths = [...new Set(starts.map(({ length }) => length))].sort((a, b) => a - b);
  return function* (start) {
    for (const length of lengths)
      if (length < start.length) yield* byStart.get(start.slice(0, length)) ?? [];
    for (let at = firstFrom(starts, start); starts[at]?.startsWith(start); at += 1)
      yield* byStart.get(starts[at] ?? '') ?? [];
  };
}

/** Returns what finds the items whose glob may match a text that another glob matches. */
export function meetingIndex<Item>(
  items: readonly Item[],
  globOf: (item: Item) => Glob,
): (glob: Glob) => Iterable<Item> {
  const groups = [...Map.groupBy(items, item => globOf(item).prefix)].map(([start, some]) => ({
    start,
    around: startIndex(some, item => endOf(globOf(item))),
  }));
  const around = startIndex(groups, ({ start }) => start);
  return function* (glob) {
    for (const group of around(glob.prefix)) yield* group.around(endOf(glob));
  };
}

/** Returns what a glob ends with, from its end on. */
function endOf({ prefix, suffix }: Glob): string {
  return (suffix ?? prefix).split('').reverse().join('');
}

/** Returns the index of the first text that does not come before another. */
function firstFrom(sorted: readonly string[], text: string): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareText(sorted[middle] ?? '', text) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
