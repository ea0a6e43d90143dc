/** How one query for the records of a name and type ended. */
export type QueryOutcome =
  | { readonly kind: 'found'; readonly addresses: readonly string[]; readonly ttlSeconds: number }
  /** The name does not exist (NXDOMAIN) or has no record of the type (NODATA). */
  | { readonly kind: 'missing' }
  /** Nothing is known: no answer, SERVFAIL or REFUSED. */
  | { readonly kind: 'failed'; readonly message: string };

/** What is known of the records of a name and type after some queries. */
export type RecordSet = {
  readonly addresses: readonly string[];
  /** False until the first query has ended, in any way. */
  readonly answered: boolean;
  /** How many of the last queries failed, in a row. */
  readonly failures: number;
  /** How many of the last queries found no record, in a row. */
  readonly misses: number;
};

export const UNASKED: RecordSet = { addresses: [], answered: false, failures: 0, misses: 0 };

/**
 * A name server that restarts may deny a name for a moment. So the last addresses go only after two
 * misses in a row.
 */
const MISSES_BELIEVED = 2;
const MIN_DELAY_MS = 1_000;
const MISSING_DELAY_MS = 5_000;
const MAX_BACKOFF_MS = 30_000;

/** Returns whether the name has no record of the type, as confirmed. */
export function isMissed({ misses }: RecordSet): boolean {
  return misses >= MISSES_BELIEVED;
}

/**
 * Returns the set after one more query. A failure changes no address, and neither does a first
 * miss.
 */
export function nextRecordSet(set: RecordSet, outcome: QueryOutcome): RecordSet {
  switch (outcome.kind) {
    case 'found':
      return { addresses: [...outcome.addresses].sort(), answered: true, failures: 0, misses: 0 };
    case 'missing': {
      const missed = { ...set, answered: true, failures: 0, misses: set.misses + 1 };
      return isMissed(missed) ? { ...missed, addresses: [] } : missed;
    }
    case 'failed':
      return { ...set, answered: true, failures: set.failures + 1 };
  }
}

/**
 * Returns when to query again, in ms, given the set after `outcome`.
 * - After records: at their TTL, from 1 s to `maxTtlSeconds`.
 * - After a failure: in 1 s, growing to 30 s.
 * - After a miss that is not confirmed yet: in 1 s, else in 5 s.
 */
export function nextQueryMs(set: RecordSet, outcome: QueryOutcome, maxTtlSeconds: number): number {
  switch (outcome.kind) {
    case 'found':
      return Math.max(Math.min(outcome.ttlSeconds, maxTtlSeconds) * 1000, MIN_DELAY_MS);
    case 'missing':
      return isMissed(set) ? MISSING_DELAY_MS : MIN_DELAY_MS;
    case 'failed':
      return Math.min(MIN_DELAY_MS * 2 ** Math.min(set.failures - 1, 10), MAX_BACKOFF_MS);
  }
}
