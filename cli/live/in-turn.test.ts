import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inTurn } from './in-turn.ts';

for (const [count, atOnce] of [
  [0, 3],
  [2, 3],
  [50, 3],
] as const) {
  test(`${count} items are done in order, at most ${atOnce} at a time`, async () => {
    const items = Array.from({ length: count }, (_, at) => at);
    let running = 0;
    let most = 0;
    const done = await inTurn(items, atOnce, async item => {
      running += 1;
      most = Math.max(most, running);
      await new Promise(setImmediate);
      running -= 1;
      return item * 2;
    });
    assert.deepEqual(
      done,
      items.map(item => item * 2),
    );
    assert.ok(most <= atOnce && most === Math.min(count, atOnce));
  });
}
