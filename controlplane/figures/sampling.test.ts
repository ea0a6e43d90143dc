import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextSampling } from './sampling.ts';

for (const [rate, present, mayGrow, next] of [
  [0, 100, true, 100],
  [30, 100, true, 100],
  [31, 100, true, 50],
  [2_000, 100, true, 1],
  [50_000, 10, false, 0.05],
  [1e12, 10, true, 0.01],
  [Number.NaN, 10, true, 0.01],
  [0, 10, true, 20],
  [0, 10, false, 10],
  [25, 50, true, 50],
  [20, 50, true, 100],
  [0, 0.01, true, 0.02],
] as const) {
  const may = mayGrow ? 'may' : 'may not';
  test(`of ${rate} requests a second ${next} percent are sampled after ${present} that ${may} grow`, () => {
    const of = (requests: number, failures: number, sampled: number, failed: number) =>
      nextSampling({ requests, failures }, { sampled, failed }, mayGrow);
    assert.equal(of(rate, 0, present, 100).sampled, next);
    assert.equal(of(0, rate, 100, present).failed, next);
  });
}
