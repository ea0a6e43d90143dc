import type { Label } from '#resources/labels/label-pattern.ts';

/**
 * The fields that we read of an `envoy.service.ratelimit.v3.RateLimitRequest`, as protobufjs
 * decodes it.
 */
export type RateLimitRequest = {
  readonly domain: string;
  readonly descriptors: readonly Descriptor[];
  /** Hits to count. 0 means 1. */
  readonly hits_addend: number;
};

/** A label group. Its `limit` is not read, so that a proxy cannot replace the operator's rate. */
export type Descriptor = {
  readonly entries: readonly Label[];
  /** A google.protobuf.UInt64Value. It replaces the request's number of hits. 0 only reads. */
  readonly hits_addend?: { readonly value: number | Uint64 } | null;
  /** The proxy takes its hits back, as Envoy does after a response. Counters never go back. */
  readonly is_negative_hits?: boolean;
};

/** A 64-bit number in two halves of 32 bits, each signed or not. */
type Uint64 = { readonly low: number; readonly high: number };

/** Higher than any rate. What one request adds beyond it changes no decision. */
const MOST_HITS = 2 ** 32;

/** Returns how many hits a descriptor adds to its counters, from 0 (it only looks) to MOST_HITS. */
export function hitsOf(descriptor: Descriptor, request: RateLimitRequest): number {
  if (descriptor.is_negative_hits) return 0;
  const own = descriptor.hits_addend;
  if (own === undefined || own === null) return request.hits_addend || 1;
  const { value } = own;
  const hits = typeof value === 'number' ? value : (value.high >>> 0) * 2 ** 32 + (value.low >>> 0);
  return Math.min(hits, MOST_HITS);
}
