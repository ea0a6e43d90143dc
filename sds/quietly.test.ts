import assert from 'node:assert/strict';
import { test } from 'node:test';
import { quietly } from './quietly.ts';

test('a clock that is set back by an hour silences nothing', () => {
  const told: (readonly [untold: number, what: string])[] = [];
  let now = 3_600_000;
  const tell = quietly(
    () => now,
    (untold, what: string) => void told.push([untold, what]),
  );
  tell('before');
  tell('left out');
  now = 0;
  tell('after');
  tell('left out');
  assert.deepEqual(told, [
    [0, 'before'],
    [1, 'after'],
  ]);
});
