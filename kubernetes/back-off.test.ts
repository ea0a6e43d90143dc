import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backOffMs } from './back-off.ts';

test('the wait doubles from 0.1–0.2 s to 2.5–5 s, half of it by chance', () => {
  assert.deepEqual([backOffMs(1, 0), backOffMs(1, 0.999)], [100, 199.9]);
  assert.equal(backOffMs(2, 0), 200);
  assert.equal(backOffMs(6, 0), 2_500);
  assert.equal(backOffMs(1e9, 0.5), 3_750);
});
