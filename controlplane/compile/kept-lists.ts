/** A list, and what was made of it. */
type Kept<Item, Made> = { readonly items: readonly Item[]; readonly made: Made };

/**
 * Returns what makes a result of each item of a list. A list that has its first or its last item in
 * common with an earlier one keeps the results of its beginning and of its end, as far as they are
 * the same. So one changed Mapping among ten thousand costs one call, and no look into the others.
 * `make` must depend on the item alone.
 */
export function keptMap<Item extends object, Result>(
  make: (item: Item) => Result,
): (items: readonly Item[]) => readonly Result[] {
  return kept<Item, readonly Result[]>([], (items, last, { begin, end }) => [
    ...last.made.slice(0, begin),
    ...items.slice(begin, items.length - end).map(item => make(item)),
    ...last.made.slice(last.items.length - end),
  ]);
}

/** Returns the same as `filter` of a list, with what `keptMap` saves. Most lists have few. */
export function keptFilter<Item extends object>(
  is: (item: Item) => boolean,
): (items: readonly Item[]) => readonly Item[] {
  const places = kept<Item, readonly number[]>([], (items, last, { begin, end }) => {
    const found = last.made.filter(place => place < begin);
    for (let place = begin; place < items.length - end; place++)
      if (is(items[place] as Item)) found.push(place);
    for (const place of last.made)
      if (place >= last.items.length - end) found.push(place - last.items.length + items.length);
    return found;
  });
  return items => places(items).map(place => items[place] as Item);
}

/** How many items two lists have in common at their beginnings, and beyond that at their ends. */
type Common = { readonly begin: number; readonly end: number };

function kept<Item extends object, Made>(
  nothing: Made,
  make: (items: readonly Item[], last: Kept<Item, Made>, common: Common) => Made,
): (items: readonly Item[]) => Made {
  const known = new WeakMap<Item, Kept<Item, Made>>();
  return items => {
    const [first] = items;
    const end = items.at(-1);
    if (first === undefined || end === undefined) return nothing;
    const last = known.get(first) ?? known.get(end) ?? { items: [], made: nothing };
    if (last.items === items) return last.made;
    const next = { items, made: make(items, last, commonOf(items, last.items)) };
    known.set(first, next).set(end, next);
    return next.made;
  };
}

function commonOf(a: readonly unknown[], b: readonly unknown[]): Common {
  const shorter = Math.min(a.length, b.length);
  let begin = 0;
  while (begin < shorter && a[begin] === b[begin]) begin++;
  let end = 0;
  while (end < shorter - begin && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  return { begin, end };
}
