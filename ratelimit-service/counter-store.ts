import type { RedisMemory } from '#redis/memory.ts';
import type { TablesStatus } from './counter-tables.ts';

/** One counter to count in. Windows of `windowMs` are aligned to the epoch, in UTC. */
export type Hit = {
  /**
   * Of the limit: unambiguous over domain, pattern and unit. It is not empty and has one length.
   */
  readonly counter: string;
  /**
   * Unambiguous over the label group, of any length and content. It holds what clients sent, so it
   * goes into no log.
   */
  readonly group: string;
  /** 1,000, 60,000, 3,600,000 or 86,400,000. */
  readonly windowMs: number;
  /** From 0, which only looks. */
  readonly add: number;
};

/**
 * What the counters hold after counting, in the order of the hits, and the clock that decided the
 * window.
 */
export type Counts = {
  /** Milliseconds since the epoch, by the store's clock. */
  readonly now: number;
  readonly counts: readonly number[];
};

/**
 * Counts requests. Exact: of any number of concurrent callers, each sees another count. Hits of one
 * call have different keys. Counts saturate at 2^53-1.
 */
export type CounterStore = {
  /**
   * Counts all hits, in at most one round trip. A store that needs none answers at once, not by a
   * promise.
   * @throws StoreUnavailable, or rejects with it, when the store does not answer in time, is gone
   * or has too much to do; the hits may have been counted all the same
   */
  count(hits: readonly Hit[]): Counts | Promise<Counts>;
  status(): CounterStoreStatus;
  /** Asks a shared store how full it is, for `status`. Never rejects. */
  look?(): Promise<void>;
  close(): Promise<void>;
};

/** What it costs now, for metrics. */
export type CounterStoreStatus = Partial<TablesStatus> & {
  /** Calls waiting for an answer. */
  readonly waiting: number;
  /** Of a shared store, when it was last looked at. */
  readonly memory?: StoreMemory;
  /** Whether every key has a server that answers, and why not (shared). */
  readonly connected?: boolean;
  readonly reason?: string;
};

export type StoreMemory = RedisMemory & {
  /** Since keys were last found evicted, in ms. */
  readonly evictedAgoMs?: number;
};

/**
 * The store is slow, gone or overloaded: the caller's answer is UNAVAILABLE. The message has no key
 * and no credential.
 */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}
