import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { takeTurns } from './act.ts';

test('what is done in turn waits for the one before, even for one that fails', async () => {
  const inTurn = takeTurns();
  const seen: string[] = [];
  const { promise: held, reject } = Promise.withResolvers<void>();
  const first = inTurn(() => held.finally(() => seen.push('first')));
  const second = inTurn(async () => seen.push('second'));
  await turn();
  assert.deepEqual(seen, []);
  reject(new Error('gone'));
  await assert.rejects(first, /gone/);
  await second;
  assert.deepEqual(seen, ['first', 'second']);
});
