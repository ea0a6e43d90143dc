import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '#protos/testing/random.ts';
import { Ring } from './ring.ts';

type Added = { column: number; value: number; from: number; to: number };

const TIME = { steps: 12, stepMs: 10 };

/** The share of a value that came about in a step. */
function partIn(step: number, { value, from, to }: Added): number {
  const [start, end] = [step * TIME.stepMs, (step + 1) * TIME.stepMs];
  if (from >= to) return to >= start && to < end ? value : 0;
  return (value * Math.max(0, Math.min(to, end) - Math.max(from, start))) / (to - from);
}

for (let seed = 1; seed <= 200; seed++) {
  test(`sums are those of a list that forgets nothing young (seed ${seed})`, () => {
    const random = seededRandom(seed);
    const ring = new Ring(3, TIME);
    const all: Added[] = [];
    let now = 1_000_000;
    let newest = 0;
    for (let round = 0; round < 60; round++) {
      now += Math.floor(random() * (random() < 0.1 ? 200 : 12));
      const to = now - Math.floor(random() * 5);
      const from = to - Math.floor(random() * 40);
      const added = { column: Math.floor(random() * 3), value: Math.floor(random() * 9), from, to };
      ring.add(added.column, added.value, from, to);
      // What was already too old when it came is dropped.
      newest = Math.max(newest, Math.floor(to / TIME.stepMs));
      all.push(added);
      const oldest = newest - TIME.steps + 1;
      for (const column of [0, 1, 2])
        for (let step = oldest; step <= newest; step++) {
          const wanted = all
            .filter(each => each.column === column)
            .reduce((sum, each) => sum + partIn(step, each), 0);
          const sum = ring.sum(column, step);
          assert.ok(Math.abs(sum - wanted) < 0.01, `step ${step}: ${sum}, want ${wanted}`);
        }
      assert.equal(ring.sum(0, 0, oldest - 1), 0);
    }
  });
}

test('a clock that was set back loses nothing', () => {
  const ring = new Ring(1, TIME);
  ring.add(0, 1, 1_000, 1_005);
  ring.add(0, 1, 950, 955);
  assert.equal(ring.sum(0, 90, 101), 2);
});

test('of a value that came about over ages the newest part is kept, and no age is gone through', () => {
  const ring = new Ring(1, TIME);
  const to = 2 ** 50;
  ring.add(0, 2 ** 20, 0, to);
  const newest = ring.stepAt(to);
  assert.equal(ring.sum(0, 0, newest - TIME.steps), 0);
  const kept = ring.sum(0, newest - TIME.steps + 1, newest);
  assert.ok(kept > 0 && kept < 1);
});
