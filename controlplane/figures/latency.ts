import { LATENCY_BOUNDS } from '#envoy/latency-bounds.ts';

/** The last bucket, which has no end, is behind the bounds. */
export const LATENCY_BUCKETS = LATENCY_BOUNDS.length + 1;

/** Returns the bucket for latencies up to `ms`. */
export function latencyBucket(ms: number): number {
  const bucket = LATENCY_BOUNDS.findIndex(bound => ms <= bound);
  return bucket === -1 ? LATENCY_BOUNDS.length : bucket;
}

/**
 * Returns the latency in ms, to a tenth, that this share of the requests does not exceed. Between
 * the ends of a bucket it is an estimate.
 * @returns null when there are no requests
 */
export function quantile(counts: readonly number[], share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  // Parts of a request may be left of a push that covers two steps.
  if (total < 0.01) return null;
  let rest = total * share;
  for (const [bucket, count] of counts.entries()) {
    if (count > 0 && rest <= count) return within(bucket, rest / count);
    rest -= count;
  }
  return LATENCY_BOUNDS.at(-1) ?? null;
}

function within(bucket: number, part: number): number {
  const from = LATENCY_BOUNDS[bucket - 1] ?? 0;
  const to = LATENCY_BOUNDS[bucket] ?? from;
  return Math.round((from + (to - from) * part) * 10) / 10;
}
