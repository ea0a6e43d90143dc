import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Round } from './measure.ts';
import { measuredIn, shareOf } from './measured.ts';

const NONE = { service: 0, store: 0, envoy: 0 };

function round(perSecond: number, cpu = NONE): Round {
  return { requests: 1_000, failed: 0, perSecond, p50: 1, p99: 2, took: 100, cpu, idle: 0.5 };
}

test('a share compares what was measured in the same round', () => {
  const [slowed, alone] = [
    [100, 50, 20],
    [400, 250, 40],
  ].map(each => each.map(perSecond => round(perSecond)));
  assert.equal(shareOf(slowed ?? [], alone ?? []), 0.25);
});

test('throughput is the median of the rounds, CPU time the mean of their requests', () => {
  const rounds = [30, 10, 20].map(ms => round(ms, { service: ms, store: 0, envoy: 2 * ms }));
  const { busy, cpu, perSecond } = measuredIn(rounds);
  assert.equal(perSecond, 20);
  assert.deepEqual(cpu, { service: 20, store: 0, envoy: 40 });
  assert.deepEqual(busy, { service: 0.2, store: 0, envoy: 0.4 });
});

test('other numbers of rounds cannot be compared', () => {
  assert.throws(() => shareOf([round(1), round(1)], [round(1)]), /2 rounds .* 1/);
});
