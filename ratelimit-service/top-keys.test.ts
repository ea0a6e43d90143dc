import assert from 'node:assert/strict';
import { test } from 'node:test';
import { groupKey, labelsOf } from './group-key.ts';
import { joinedCounters, limitCounters } from './limit-counters.ts';
import { TopKeys } from './top-keys.ts';

const MINUTE = 60_000;

function topAt(start: number) {
  const [top, counts] = [new TopKeys(), new Map<string, number>()];
  const count = (group: string, now = start, counter = 'c') => {
    const next = (counts.get(group) ?? 0) + 1;
    counts.set(group, next);
    top.counted([{ counter, group, windowMs: MINUTE, add: 1 }], { now, counts: [next] });
  };
  const times = (group: string, all: number) => {
    for (let time = 0; time < all; time += 1) count(group);
  };
  return { top, count, times };
}

test('the highest counters are kept, however many others come', () => {
  const { times, top } = topAt(0);
  times('high', 50);
  for (let key = 0; key < 500; key += 1) times(`low ${key}`, 2);
  times('late', 60);
  const keys = top.of('c', 1);
  assert.equal(keys.length, 20);
  assert.deepEqual(keys.slice(0, 2), [
    { group: 'late', count: 60, ends: MINUTE },
    { group: 'high', count: 50, ends: MINUTE },
  ]);
});

test('a window that has ended has no keys, and a reset takes one out', () => {
  const { count, times, top } = topAt(0);
  times('a', 3);
  times('b', 2);
  top.reset([{ counter: 'c', group: 'a', windowMs: MINUTE, add: 0 }]);
  assert.deepEqual(
    top.of('c', 1).map(({ group }) => group),
    ['b'],
  );
  assert.deepEqual(top.of('c', MINUTE), []);
  count('next', MINUTE + 1);
  assert.deepEqual(
    top.of('c', MINUTE + 2).map(({ group }) => group),
    ['next'],
  );
  assert.deepEqual(top.of('unknown', 0), []);
});

test('limits and label groups are bounded, whatever clients send', () => {
  const { count, top } = topAt(0);
  count('x'.repeat(1_025));
  assert.deepEqual(top.of('c', 1), []);
  for (let limit = 0; limit < 1_000; limit += 1) count(`of ${limit}`, 0, `limit ${limit}`);
  assert.deepEqual(top.of('c', 1), []);
  assert.equal(top.of('limit 999', 1).length, 1);
});

test('labels are read as they were written, also empty ones and those with digits and colons', () => {
  for (const group of [
    [],
    [['', '']],
    [
      ['1:', ':2'],
      ['a', '12:34'],
    ],
    [['ä', '😀 5:x']],
  ]) {
    const labels = group.map(([key = '', value = '']) => ({ key, value }));
    assert.deepEqual(labelsOf(groupKey(labels)), labels);
  }
});

test('what several processes know is summed, and each key is shown once with its highest count', () => {
  const tally = { within_limit: 1, near_limit: 2, over_limit: 3, over_limit_log_only: 4 };
  const limit = (name: string) => ({ domain: 'd', name, rate: 5 });
  const key = (value: string) => groupKey([{ key: 'k', value }]);
  const one = limitCounters(limit('l'), tally, [{ group: key('a'), count: 5, ends: 9 }]);
  const two = limitCounters(limit('l'), tally, [
    { group: key('a'), count: 7, ends: 9 },
    { group: key('b'), count: 6, ends: 9 },
  ]);
  const [joined, other, ...more] = joinedCounters(
    [[one], [two, limitCounters(limit('m'), undefined, [])]],
    5,
  );
  assert.deepEqual(
    [joined?.within, joined?.near, joined?.over, joined?.over_log_only, other?.within, more.length],
    [2, 4, 6, 8, 0, 0],
  );
  assert.deepEqual(
    joined?.keys.map(({ count, labels: [label] }) => [label?.value, count]),
    [
      ['a', 7],
      ['b', 6],
    ],
  );
});

test('limits of one name are summed once for each process, since it counts by name', () => {
  const tally = { within_limit: 1, near_limit: 2, over_limit: 3, over_limit_log_only: 4 };
  const of = (rate: number) => limitCounters({ domain: 'd', name: 'l', rate }, tally, []);
  const [joined, ...more] = joinedCounters(
    [
      [of(5), of(50)],
      [of(5), of(50)],
    ],
    5,
  );
  assert.deepEqual(
    [joined?.within, joined?.near, joined?.over, joined?.over_log_only, more.length],
    [2, 4, 6, 8, 0],
  );
});

test('limits whose domain and name only read alike together are told apart', () => {
  const of = (domain: string, name: string) =>
    limitCounters({ domain, name, rate: 1 }, undefined, []);
  const joined = joinedCounters([[of('shop', 'pay all')], [of('shop pay', 'all')]], 5);
  assert.equal(joined.length, 2);
});
