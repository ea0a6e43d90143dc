/**
 * One counter to count in. `key` is unambiguous over domain, pattern, unit and label group, of any length and content (it holds what
 * clients sent: it goes into no log); the window is not in it. Windows of `windowMs` are aligned to the epoch, in UTC.
 */
export type Hit = {
  readonly key: string;
  /** 1,000, 60,000, 3,600,000 or 86,400,000. */
  readonly windowMs: number;
  /** From 0, which only looks. */
  readonly add: number;
};

/** What the counters hold after counting, in the order of the hits, and the clock that decided the window. */
export type Counts = {
  /** Milliseconds since the epoch, by the store's clock. */
  readonly now: number;
  readonly counts: readonly number[];
};

/**
 * Counts requests. Exact: of any number of concurrent callers, each sees another count. Hits of one call have different keys.
 * Counts saturate at 2^53-1.
 */
export type CounterStore = {
  /**
   * Counts all hits, in at most one round trip. A store that needs none answers at once, not by a promise.
   * @throws StoreUnavailable, or rejects with it, when the store does not answer in time, is gone or has too much to do; the hits may have
   * been counted all the same
   */
  count(hits: readonly Hit[]): Counts | Promise<Counts>;
  status(): CounterStoreStatus;
  close(): Promise<void>;
};

/** What it costs now, for metrics. */
export type CounterStoreStatus = {
  /** Keys held (embedded). */
  readonly keys?: number;
  /** Hits since the start that had to share a counter with other keys, because there were too many (embedded). */
  readonly sharedHits?: number;
  /** Calls waiting for an answer. */
  readonly waiting: number;
  /** Whether every key has a server that answers, and why not (shared). */
  readonly connected?: boolean;
  readonly reason?: string;
};

/** The store is slow, gone or overloaded: the caller's answer is UNAVAILABLE. The message has no key and no credential. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}
