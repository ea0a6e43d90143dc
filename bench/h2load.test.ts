import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseLog, perSecondOf } from './h2load.ts';

test('the log of h2load gives quantiles of what was answered with 2xx, in ms', () => {
  const log = '1795287752150203\t200\t7035\n1795287752157856\t200\t972\n1795287752158838\t503\t1\n';
  assert.deepEqual(parseLog(log, 4), { requests: 4, failed: 2, p50: 0.972, p99: 7.035 });
});

test('a log without an answer is an error', () => {
  assert.throws(() => parseLog('1795287752150203\t-1\t10\n', 1), /none of 1 requests/);
});

test('requests a second are what h2load counts itself', () => {
  assert.equal(
    perSecondOf('\nfinished in 10.04ms, 298.83 req/s, 32.39KB/s\nrequests: 3 total'),
    298.83,
  );
  assert.throws(() => perSecondOf('usage'), /says nothing/);
});
