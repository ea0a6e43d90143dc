import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changedKeys, PersistentMap } from './persistent-map.ts';
import { Random } from './testing/random.ts';

type Value = { readonly of: number };

const KEYS = Array.from({ length: 600 }, (_, index) => `service-${index}.default:80`);

function randomChanges(random: Random): readonly (readonly [string, Value | undefined])[] {
  const keys = Array.from({ length: random.below(40) }, () => random.pick(KEYS) ?? '');
  return keys.map((key, of) => [key, random.chance(0.4) ? undefined : { of }]);
}

function assertSame(map: PersistentMap<Value>, model: ReadonlyMap<string, Value>): void {
  assert.deepEqual(new Map(map), model);
  assert.deepEqual([...map.keys()].sort(), [...model.keys()].sort());
  assert.equal(new Set(map.values()).size, new Set(model.values()).size);
  assert.equal(map.size, model.size);
  for (const key of KEYS)
    assert.deepEqual([map.has(key), map.get(key)], [model.has(key), model.get(key)]);
}

test('each version is what a plain map would be, also when later ones have been made from it', () => {
  const random = new Random(1);
  const versions = [{ map: new PersistentMap<Value>(), model: new Map<string, Value>() }];
  for (let round = 0; round < 50; round += 1) {
    const from = random.pick(versions);
    assert.ok(from);
    const model = new Map(from.model);
    const changes = randomChanges(random);
    for (const [key, value] of changes) {
      if (value === undefined) model.delete(key);
      else model.set(key, value);
    }
    versions.push({ map: from.map.with(changes), model });
  }
  for (const { map, model } of versions) assertSame(map, model);
});

test('the keys that differ between any two maps are found, whether they are persistent or not', () => {
  const random = new Random(2);
  const one = new PersistentMap<Value>().with(randomChanges(random));
  const other = one.with(randomChanges(random));
  const expected = KEYS.filter(key => one.get(key) !== other.get(key));
  assert.ok(expected.length > 0);
  for (const before of [one, new Map(one)])
    for (const after of [other, new Map(other)])
      assert.deepEqual([...changedKeys(before, after)].sort(), expected.toSorted());
  assert.deepEqual(changedKeys(one, one), []);
});

test('what changes nothing gives the same map', () => {
  const value = { of: 1 };
  const map = new PersistentMap<Value>().with([['a', value]]);
  assert.equal(
    map.with([
      ['a', value],
      ['b', undefined],
    ]),
    map,
  );
});

test('a change of a few keys copies only their shards', () => {
  const map = new PersistentMap<Value>().with(KEYS.map((key, of) => [key, { of }]));
  const changed = map.with(KEYS.slice(0, 5).map(key => [key, undefined]));
  const copied = changed.shards.filter((shard, index) => shard !== map.shards[index]);
  assert.ok(copied.length <= 5, `${copied.length} shards`);
  const largest = Math.max(...map.shards.map(shard => shard.size));
  assert.ok(largest < 20, `${largest} of ${KEYS.length} keys are in one shard`);
});
