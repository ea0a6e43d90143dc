import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextSampling } from './sampling.ts';

for (const [rate, present, next] of [
  [0, 10, 100],
  [69, 10, 100],
  [71, 10, 50],
  [71, 100, 100],
  [101, 100, 50],
  [2_000, 100, 5],
  [50_000, 10, 0.2],
  [1e12, 10, 0.01],
  [Number.NaN, 10, 0.01],
] as const) {
  test(`at ${rate} requests a second and ${present} percent, ${next} percent are sampled`, () => {
    const rates = { requests: rate, failures: 0 };
    assert.equal(nextSampling(rates, { sampled: present, failed: 100 }).sampled, next);
    const failures = { requests: 0, failures: rate };
    assert.equal(nextSampling(failures, { sampled: 10, failed: present }).failed, next);
  });
}
