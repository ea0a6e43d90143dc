import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { seededRandom } from '#protos/testing/random.ts';
import { MemoryCounterStore } from './memory-counter-store.ts';

const UNITS = [1_000, 60_000, 3_600_000, 86_400_000];
const START = Date.UTC(2026, 0, 31, 23, 59, 59, 900);

/** Returns a store whose clock is set by the test. */
function storeAt(start: number, maxKeys?: number) {
  const clock = { now: start };
  const store = new MemoryCounterStore({
    now: () => clock.now,
    ...(maxKeys !== undefined && { maxKeys }),
  });
  const count = (key: string, windowMs = 1_000, add = 1) =>
    store.count([{ counter: `${windowMs}`, group: key, windowMs, add }]).counts[0] ?? Number.NaN;
  return { clock, count, store };
}

describe('counters in memory', () => {
  test('answer at once, each hit in its place, with the clock that decided', () => {
    const { store } = storeAt(START);
    const hits = UNITS.map((windowMs, index) => ({
      counter: `${windowMs}`,
      group: 'k',
      windowMs,
      add: index,
    }));
    assert.deepEqual(store.count(hits), { now: START, counts: [0, 1, 2, 3] });
    assert.deepEqual(store.count(hits), { now: START, counts: [0, 2, 4, 6] });
    assert.deepEqual(store.count([]), { now: START, counts: [] });
  });

  test('that are reset begin again, and others go on', async () => {
    const { count, store } = storeAt(START);
    const hit = (group: string) => ({ counter: '1000', group, windowMs: 1_000, add: 0 });
    for (const key of ['a', 'b', 'x'.repeat(500)])
      assert.deepEqual([count(key), count(key)], [1, 2]);
    await store.reset([hit('a'), hit('x'.repeat(500)), hit('never')]);
    assert.deepEqual([count('a'), count('b'), count('x'.repeat(500))], [1, 3, 1]);
    assert.equal(store.status().keys, 3);
  });

  for (const unit of UNITS)
    test(`of ${unit} ms begin again exactly at the boundary`, () => {
      const boundary = Math.ceil(START / unit) * unit;
      const { clock, count } = storeAt(boundary - 1);
      assert.deepEqual([count('k', unit), count('k', unit)], [1, 2]);
      clock.now = boundary;
      assert.equal(count('k', unit), 1);
      clock.now = boundary + unit - 1;
      assert.equal(count('k', unit), 2);
      clock.now = boundary + unit;
      assert.equal(count('k', unit), 1);
    });

  test('are what a naive model counts, at any times, with any keys', () => {
    const random = seededRandom(1);
    const keys = [
      '',
      'a',
      '__proto__',
      'constructor',
      'ü',
      '\ud800',
      '\ud801',
      '\0',
      '\0a',
      'x'.repeat(256),
    ];
    keys.push(...[1, 2, 3].map(last => 'y'.repeat(300) + last));
    const { clock, count, store } = storeAt(START);
    const model = new Map<string, number>();
    for (let round = 0; round < 50_000; round += 1) {
      clock.now += Math.floor(random() ** 8 * 100_000);
      const key = keys[Math.floor(random() * keys.length)] ?? '';
      const unit = UNITS[Math.floor(random() * 4)] ?? 0;
      const add = Math.floor(random() * 3);
      const name = `${unit} ${Math.floor(clock.now / unit)} ${key}`;
      model.set(name, (model.get(name) ?? 0) + add);
      assert.equal(count(key, unit, add), model.get(name), `round ${round}`);
    }
    const live = [...model].filter(([name, held]) => {
      const [unit, window] = name.split(' ', 2).map(Number);
      return held > 0 && window === Math.floor(clock.now / Number(unit));
    });
    assert.equal(store.status().keys, live.length);
  });

  test('that are only looked at take no room', () => {
    const { count, store } = storeAt(START);
    for (let key = 0; key < 100; key += 1) assert.equal(count(`${key}`, 1_000, 0), 0);
    assert.equal(store.status().keys, 0);
  });

  test('are dropped when their window is over, also by the traffic of other units', () => {
    const { clock, count, store } = storeAt(Date.UTC(2026, 0, 1));
    for (let key = 0; key < 1_000; key += 1) count(`${key}`, 1_000);
    count('day', 86_400_000);
    assert.equal(store.status().keys, 1_001);
    clock.now += 1_000;
    assert.equal(count('day', 86_400_000), 2);
    assert.equal(store.status().keys, 1);
  });

  test('saturate', () => {
    const { count } = storeAt(START);
    assert.equal(count('k', 1_000, Number.MAX_SAFE_INTEGER - 1), Number.MAX_SAFE_INTEGER - 1);
    assert.equal(count('k', 1_000, 2 ** 32), Number.MAX_SAFE_INTEGER);
    assert.equal(count('k', 1_000, 1), Number.MAX_SAFE_INTEGER);
  });

  test('of a long key are bounded, and of a key that looks like its digest are others', () => {
    const { count, store } = storeAt(START);
    assert.equal(count('z'.repeat(10_000_000)), 1);
    assert.equal(count('z'.repeat(10_000_000)), 2);
    assert.equal(count('z'.repeat(9_999_999)), 1);
    assert.equal(store.status().keys, 2);
  });
});

describe('counters in memory, when the clock is set back', () => {
  test('by less than a second: time stands still, and no window begins twice', () => {
    const boundary = Date.UTC(2026, 0, 2);
    const { clock, count, store } = storeAt(boundary);
    assert.equal(count('k'), 1);
    clock.now = boundary - 1;
    assert.equal(count('k'), 2);
    clock.now = boundary - 1_000;
    assert.deepEqual(
      store.count([{ counter: '86400000', group: 'k', windowMs: 86_400_000, add: 1 }]),
      {
        now: boundary,
        counts: [1],
      },
    );
    clock.now = boundary + 999;
    assert.equal(count('k'), 3);
    clock.now = boundary + 1_000;
    assert.equal(count('k'), 1);
  });

  test('by more: the window of that time begins, and those that still hold go on', () => {
    const { clock, count, store } = storeAt(Date.UTC(2026, 0, 2, 12));
    count('second');
    count('day', 86_400_000);
    clock.now -= 3_600_000;
    assert.equal(count('second'), 1);
    assert.equal(count('day', 86_400_000), 2);
    clock.now = -5_000;
    assert.equal(count('day', 86_400_000), 1);
    assert.equal(store.status().keys, 1);
  });
});
