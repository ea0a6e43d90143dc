import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { batches } from './batches.ts';

function sending() {
  const sent: (readonly number[])[] = [];
  const clock = { ms: 0 };
  const { add, flush } = batches<number>(
    items => sent.push(items),
    () => clock.ms,
  );
  return { sent, clock, add, flush };
}

describe('items that come one after the other are sent together', () => {
  test('until the first has waited for long', () => {
    const { add, clock, sent } = sending();
    add(1, false);
    clock.ms = 99;
    add(2, false);
    assert.deepEqual(sent, []);
    clock.ms = 100;
    add(3, false);
    assert.deepEqual(sent, [[1, 2, 3]]);
  });

  test('until they are many', () => {
    const { add, sent } = sending();
    for (let item = 0; item < 120; item += 1) add(item, false);
    assert.deepEqual(
      sent.map(items => items.length),
      [50, 50],
    );
  });

  test('until one is urgent', () => {
    const { add, sent } = sending();
    add(1, false);
    add(2, true);
    assert.deepEqual(sent, [[1, 2]]);
  });

  test('until they are asked for, and then never again', () => {
    const { add, flush, sent } = sending();
    flush();
    add(1, false);
    flush();
    flush();
    assert.deepEqual(sent, [[1]]);
  });

  test('but not when they come seldom', () => {
    const { add, clock, sent } = sending();
    for (const item of [1, 2]) {
      clock.ms += 100;
      add(item, false);
    }
    assert.deepEqual(sent, [[1], [2]]);
  });
});
