/** What one query for the records of a name and type ended with. */
export type Outcome =
  | { readonly kind: 'found'; readonly addresses: readonly string[]; readonly ttlSeconds: number }
  /** The name does not exist (NXDOMAIN) or has no record of the type (NODATA). */
  | { readonly kind: 'missing' }
  /** Nothing can be said: no answer, SERVFAIL, refused. */
  | { readonly kind: 'failed'; readonly message: string };

/** What is known of the records of a name and type after some queries. */
export type RecordSet = {
  readonly addresses: readonly string[];
  /** False until the first query has ended, however. */
  readonly answered: boolean;
  /** How many of the last queries failed, in a row. */
  readonly failures: number;
  /** How many of the last queries found no record, in a row. */
  readonly misses: number;
};

export const UNASKED: RecordSet = { addresses: [], answered: false, failures: 0, misses: 0 };

/**
 * A name server that restarts may deny for a moment what it serves: the last addresses go only when
 * it has done so twice.
 */
const MISSES_BELIEVED = 2;
const MIN_DELAY_MS = 1_000;
const MISSING_DELAY_MS = 5_000;
const MAX_BACKOFF_MS = 30_000;

/** The set after one more query: a failure changes no address, a first miss neither. */
export function nextRecordSet(set: RecordSet, outcome: Outcome): RecordSet {
  switch (outcome.kind) {
    case 'found':
      return { addresses: [...outcome.addresses].sort(), answered: true, failures: 0, misses: 0 };
    case 'missing': {
      const misses = set.misses + 1;
      const addresses = misses < MISSES_BELIEVED ? set.addresses : [];
      return { addresses, answered: true, failures: 0, misses };
    }
    case 'failed':
      return { ...set, answered: true, failures: set.failures + 1 };
  }
}

/**
 * When to ask again, in ms, given the set after `outcome`: at the records' TTL (from 1 s to
 * `maxTtlSeconds`), after a failure in 1 s growing to 30 s, after a miss that still has to be
 * confirmed in 1 s, else in 5 s.
 */
export function nextQueryMs(set: RecordSet, outcome: Outcome, maxTtlSeconds: number): number {
  switch (outcome.kind) {
    case 'found':
      return Math.max(Math.min(outcome.ttlSeconds, maxTtlSeconds) * 1000, MIN_DELAY_MS);
    case 'missing':
      return set.misses < MISSES_BELIEVED ? MIN_DELAY_MS : MISSING_DELAY_MS;
    case 'failed':
      return Math.min(MIN_DELAY_MS * 2 ** Math.min(set.failures - 1, 10), MAX_BACKOFF_MS);
  }
}
