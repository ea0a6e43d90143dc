import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LATENCY_BOUNDS } from '#envoy/latency-bounds.ts';
import { seededRandom } from '#protos/testing/random.ts';
import { LATENCY_BUCKETS, latencyBucket, quantile } from './latency.ts';

const countsOf = (latencies: readonly number[]) => {
  const counts = Array.from({ length: LATENCY_BUCKETS }, () => 0);
  for (const ms of latencies) {
    const bucket = latencyBucket(ms);
    counts[bucket] = (counts[bucket] ?? 0) + 1;
  }
  return counts;
};

test('without requests there is no latency', () => {
  assert.equal(quantile(countsOf([]), 0.5), null);
});

test('latencies beyond all buckets are told as the last bound', () => {
  assert.equal(quantile(countsOf([1e9, Number.POSITIVE_INFINITY]), 0.99), LATENCY_BOUNDS.at(-1));
});

for (let seed = 1; seed <= 50; seed++) {
  test(`an estimate is in the bucket of the true latency (seed ${seed})`, () => {
    const random = seededRandom(seed);
    const latencies = Array.from({ length: 1 + Math.floor(random() * 500) }, () =>
      Math.floor(60_000 ** random()),
    ).sort((a, b) => a - b);
    for (const share of [0.5, 0.9, 0.99]) {
      const truth = latencies[Math.ceil(latencies.length * share) - 1] ?? 0;
      const estimate = quantile(countsOf(latencies), share) ?? Number.NaN;
      const bucket = latencyBucket(truth);
      const [from = 0, to = Number.NaN] = [LATENCY_BOUNDS[bucket - 1], LATENCY_BOUNDS[bucket]];
      assert.ok(estimate >= from && estimate <= to, `${estimate}, the truth is ${truth}`);
    }
  });
}
