import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backOff } from './back-off.ts';

test('the pause doubles with each failure, and is always less than a second', () => {
  const pauses = Array.from({ length: 2_000 }, (_, failures) => backOff(failures, 0));
  assert.deepEqual(pauses.slice(0, 7), [25, 50, 100, 200, 400, 500, 500]);
  assert.equal(pauses.at(-1), 500);
  assert.equal(backOff(2_000, 1), 900);
});

test('chance decides nearly half of the pause', () => {
  assert.deepEqual([backOff(0, 0), backOff(0, 0.5), backOff(0, 1)], [25, 35, 45]);
});
