/** A list, and what was made of each of its items. */
type Kept<Item, Result> = { readonly items: readonly Item[]; readonly results: readonly Result[] };

/**
 * Returns what makes a result of each item of a list. A list that has its first or its last item in
 * common with an earlier one keeps the results of its beginning and of its end, as far as they are
 * the same. So one changed Mapping among ten thousand costs one call, and no look into the others.
 * `make` must depend on the item alone.
 */
export function keptMap<Item extends object, Result>(
  make: (item: Item) => Result,
): (items: readonly Item[]) => readonly Result[] {
  const known = new WeakMap<Item, Kept<Item, Result>>();
  return items => {
    const [first] = items;
    const end = items.at(-1);
    if (first === undefined || end === undefined) return [];
    const last = known.get(first) ?? known.get(end) ?? { items: [], results: [] };
    if (last.items === items) return last.results;
    const kept = { items, results: resultsOf(items, last, make) };
    known.set(first, kept).set(end, kept);
    return kept.results;
  };
}

/** Returns the same as `filter` of a list, with what `keptMap` saves. */
export function keptFilter<Item extends object>(
  is: (item: Item) => boolean,
): (items: readonly Item[]) => readonly Item[] {
  const chosen = keptMap(is);
  return items => {
    const flags = chosen(items);
    return items.filter((_, index) => flags[index]);
  };
}

function resultsOf<Item, Result>(
  items: readonly Item[],
  last: Kept<Item, Result>,
  make: (item: Item) => Result,
): readonly Result[] {
  const shorter = Math.min(items.length, last.items.length);
  let begin = 0;
  while (begin < shorter && items[begin] === last.items[begin]) begin++;
  let end = 0;
  while (end < shorter - begin && items.at(-1 - end) === last.items.at(-1 - end)) end++;
  return [
    ...last.results.slice(0, begin),
    ...items.slice(begin, items.length - end).map(item => make(item)),
    ...last.results.slice(last.items.length - end),
  ];
}
