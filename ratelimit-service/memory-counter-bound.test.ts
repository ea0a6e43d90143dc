import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { seededRandom } from '#protos/testing/random.ts';
import { decide } from './decide.ts';
import { compileLimits } from './limits-index.ts';
import { MemoryCounterStore } from './memory-counter-store.ts';
import { type LimitJson, limitsOf } from './testing/limits.ts';
import { requestOf } from './testing/requests.ts';

const NOON = Date.UTC(2026, 0, 31, 12);
const DAY = 86_400_000;

/** Returns a store whose clock is set by the test. */
function storeOf(maxKeys: number) {
  const clock = { now: NOON };
  const store = new MemoryCounterStore({ maxKeys, now: () => clock.now });
  const count = (counter: string, group: string, add = 1, windowMs = DAY) =>
    store.count([{ counter, group, windowMs, add }]).counts[0] ?? Number.NaN;
  return { clock, count, store };
}

/** Returns whether a client passes limits that count in a store of so many keys. */
function gateOf(maxKeys: number, limits: readonly LimitJson[]) {
  const index = compileLimits(limitsOf('d', limits));
  const { store } = storeOf(maxKeys);
  return (label: string): boolean => {
    const decision = decide(index, store, requestOf([label]), '');
    assert.ok('verdict' in decision);
    return !decision.verdict.over;
  };
}

describe('more counters than there is room for', () => {
  test('a flood of values rejects no client below its rate, and lets none send more than one over it', () => {
    const passes = gateOf(2_000, [
      { pattern: ['client'], rate: 10, unit: 'DAY' },
      { pattern: ['api'], rate: 10, unit: 'DAY' },
    ]);
    const admitted = new Map<string, number>();
    for (let value = 0; value < 60_000; value += 1) {
      assert.ok(passes(`client=${value}`), `the first request of ${value}`);
      const client = `client=greedy${value % 40}`;
      if (value % 400 < 40 && passes(client)) admitted.set(client, (admitted.get(client) ?? 0) + 1);
      if (value % 6_000 === 0)
        assert.ok(passes('api=slow'), `request of the other limit after ${value}`);
    }
    assert.equal(admitted.size, 40);
    for (const [client, requests] of admitted)
      assert.ok(requests === 10 || requests === 11, `${client}: ${requests}`);
    for (let value = 0; value < 500; value += 1) assert.ok(passes(`client=new${value}`));
    assert.equal(passes('api=slow'), false, 'its eleventh request');
  });

  test('count as a naive model does, and a count is lost only when most others are as high', () => {
    const random = seededRandom(3);
    for (const maxKeys of [1, 2, 7, 50, 333]) {
      const { clock, count, store } = storeOf(maxKeys);
      const exact = new Map<string, number>();
      const told = new Map<string, number>();
      let lost = 0;
      for (let round = 0; round < 10_000; round += 1) {
        if (random() < 0.0005) {
          clock.now += DAY;
          exact.clear();
          told.clear();
        }
        const group = `${Math.floor(random() ** 3 * maxKeys * 4)}`;
        const add = Math.floor(random() * 3);
        const [all, before] = [(exact.get(group) ?? 0) + add, told.get(group) ?? 0];
        const counted = count('c', group, add);
        assert.ok(counted >= add && counted <= all, `round ${round}: ${counted} of ${all}`);
        if (counted < before + add) {
          lost += 1;
          assert.equal(counted, add);
          const asHigh = [...exact.values()].filter(other => other >= before).length;
          assert.ok(
            asHigh > Math.floor((maxKeys * 5) / 8),
            `round ${round}: ${asHigh} had ${before}`,
          );
        }
        exact.set(group, all);
        told.set(group, counted);
        assert.ok((store.status().keys ?? 0) <= maxKeys);
      }
      assert.ok(lost > 0, `${maxKeys} keys: nothing was lost`);
    }
  });

  test('are not those of a limit that has less than its share', () => {
    const { count, store } = storeOf(1_000);
    const limits = ['a', 'b', 'c'];
    for (const limit of limits)
      for (let key = 0; key < 120; key += 1) count(limit, `${key}`, 1 + (key % 5));
    for (let key = 0; key < 50_000; key += 1)
      count(key % 2 === 0 ? 'flood' : 'other flood', `${key}`);
    for (const limit of limits)
      for (let key = 0; key < 120; key += 1) assert.equal(count(limit, `${key}`, 0), 1 + (key % 5));
    assert.deepEqual([...(store.status().dropped ?? [])].map(([counter]) => counter).sort(), [
      'flood',
      'other flood',
    ]);
  });

  test('keep what is over its rate, whatever else comes, when it came first or last', () => {
    const { count } = storeOf(1_000);
    for (let key = 0; key < 300; key += 1) count('c', `early${key}`, 11);
    for (let key = 0; key < 10_000; key += 1) count('c', `${key}`, 1 + (key % 10));
    for (let key = 0; key < 300; key += 1) count('c', `late${key}`, 11);
    for (let key = 0; key < 10_000; key += 1) count('c', `more${key}`, 1 + (key % 10));
    for (const when of ['early', 'late'])
      for (let key = 0; key < 300; key += 1) assert.equal(count('c', `${when}${key}`, 0), 11);
  });

  test('stay within the bound also when counts rise ahead of what drops them', () => {
    const { count, store } = storeOf(64);
    for (let round = 0; round < 2_000; round += 1) {
      count('c', `${round}`, 5);
      for (let key = Math.max(0, round - 64); key < round; key += 1) count('c', `${key}`, 5);
      assert.ok((store.status().keys ?? 0) <= 64);
    }
  });

  test('make room again when their window is over, in the midst of being dropped', () => {
    const { clock, count, store } = storeOf(100);
    for (let key = 0; key < 88; key += 1) count('second', `${key}`, 1, 1_000);
    count('day', 'k', 3);
    clock.now += 1_000;
    for (let key = 0; key < 80; key += 1) assert.equal(count('second', `${key}`, 1, 1_000), 1);
    assert.deepEqual([store.status().keys, count('day', 'k', 0)], [81, 3]);
  });

  test('are told of: when most of the room was in use, by which limit, and what was dropped', () => {
    const { clock, count, store } = storeOf(100);
    for (let key = 0; key < 79; key += 1) count('c', `${key}`, 1, 1_000);
    assert.equal(store.status().crowded, undefined);
    count('d', 'k', 1, 1_000);
    clock.now += 1_000;
    count('d', 'k', 1, 1_000);
    assert.deepEqual(store.status().crowded, { at: NOON, counter: 'c' });
    assert.deepEqual(store.status().dropped?.size, 0);
    for (let key = 0; key < 200; key += 1) count('d', `${key}`);
    assert.deepEqual(store.status().crowded, { at: NOON + 1_000, counter: 'd' });
    const { keys = 0, dropped } = store.status();
    assert.deepEqual([...(dropped ?? [])], [['d', { keys: 201 - keys, at: NOON + 1_000 }]]);
  });
});
