import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from './e2e/until.ts';

test('a wait asks less often the longer it lasts, and says what did not come', async () => {
  let asked = 0;
  const never = () => {
    asked += 1;
    return undefined;
  };
  await assert.rejects(until(never, 400, 'a sign'), /^Error: Not within 400 ms: a sign$/);
  assert.ok(asked > 1 && asked < 60, `${asked}`);
});

test('what takes long to ask is asked half of the time', async () => {
  let asked = 0;
  const slow = async () => {
    asked += 1;
    const end = performance.now() + 40;
    while (performance.now() < end);
    return undefined;
  };
  await assert.rejects(until(slow, 400));
  assert.ok(asked > 1 && asked < 8, `${asked}`);
});
