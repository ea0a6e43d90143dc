import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cases } from '#protos/testing/cases.ts';
import { keptFilter, keptMap } from './kept-lists.ts';
import { chancesOf } from './testing/seeded-pick.ts';

type Item = { readonly value: number };

const double = ({ value }: Item) => value * 2;
const isEven = ({ value }: Item) => value % 2 === 0;

test('lists that change at random have the results of their items, whichever list came before', () => {
  const chances = chancesOf(7);
  const map = keptMap(double);
  const filter = keptFilter(isEven);
  const lists: readonly Item[][] = [[], itemsUpTo(5), itemsUpTo(12)];
  for (let round = 0; round < cases({ all: 3_000, quick: 300 }); round++) {
    const list = chances.pick(lists);
    change(list, chances);
    // A list in use does not change.
    const now = [...list];
    assert.deepEqual(map(now), now.map(double));
    assert.deepEqual(map(now), now.map(double));
    assert.deepEqual(filter(now), now.filter(isEven));
  }
});

for (const place of [0, 500, 999]) {
  test(`one changed item at ${place} is the only one that is looked at`, () => {
    const seen: number[] = [];
    const map = keptMap(({ value }: Item) => seen.push(value));
    const items = itemsUpTo(1_000);
    map(items);
    seen.length = 0;
    const changed = items.with(place, { value: -1 });
    const more = changed.toSpliced(place, 0, { value: -2 });
    for (const each of [changed, more, more.toSpliced(place + 1, 1)]) map(each);
    assert.deepEqual(seen, [-1, -2]);
  });
}

function itemsUpTo(count: number): Item[] {
  return Array.from({ length: count }, (_, value) => ({ value }));
}

/** Adds, removes, replaces or moves an item. Items may stand in it twice. */
function change(list: Item[], { pick, random }: ReturnType<typeof chancesOf>): void {
  const at = Math.floor(random() * (list.length + 1));
  const removed = list.splice(at, pick([0, 1, 1]));
  const added = [{ value: Math.floor(random() * 100) }, ...removed, ...list.slice(0, 1)];
  const items = pick([[], [pick(added)], [pick(added)]]);
  list.splice(pick([at, Math.floor(random() * (list.length + 1))]), 0, ...items);
}
