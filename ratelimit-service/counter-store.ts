import type { RedisMemory } from '#redis/memory.ts';
import type { TablesStatus } from './counter-tables.ts';

/** One counter to count in. Windows of `windowMs` are aligned to the epoch, in UTC. */
export type Hit = {
  /**
   * Identifies the limit, unambiguous over domain, pattern and unit. Never empty, and always of one
   * length.
   */
  readonly counter: string;
  /**
   * Identifies the label group, of any length and content. It holds what clients sent, so it goes
   * into no log.
   */
  readonly group: string;
  /** 1,000, 60,000, 3,600,000 or 86,400,000. */
  readonly windowMs: number;
  /** 0 or more. 0 only reads the counter. */
  readonly add: number;
};

/**
 * What the counters hold after counting, in the order of the hits. `now` is the clock that decided
 * the window.
 */
export type Counts = {
  /** Milliseconds since the epoch, by the store's clock. */
  readonly now: number;
  readonly counts: readonly number[];
};

/**
 * Counts requests exactly: of any number of concurrent callers, each sees another count. The hits
 * of one call have different keys. Counts saturate at 2^53-1.
 */
export type CounterStore = {
  /**
   * Counts all hits, in at most one round trip. A store that needs no round trip returns the counts
   * and no promise.
   * @throws StoreUnavailable, or rejects with it, when the store does not answer in time, is gone
   * or is overloaded. The hits may have been counted all the same.
   */
  count(hits: readonly Hit[]): Counts | Promise<Counts>;
  /** Lets these counters begin again at 0. Rejects with StoreUnavailable. */
  reset(hits: readonly Hit[]): Promise<void>;
  status(): CounterStoreStatus;
  /** Asks a shared store how full it is, and whether it counts, for `status`. Never rejects. */
  look?(): Promise<void>;
  close(): Promise<void>;
};

/** What the store costs now, for metrics. */
export type CounterStoreStatus = Partial<TablesStatus> & {
  /** Calls waiting for an answer. */
  readonly waiting: number;
  /** Memory of a shared store, when it was last looked at. */
  readonly memory?: StoreMemory;
  /** Whether a server answers for every key of a shared store, and why not. */
  readonly connected?: boolean;
  readonly reason?: string;
  /** Why a shared store that is connected did not count when it was looked at. */
  readonly fault?: string;
};

export type StoreMemory = RedisMemory & {
  /** Milliseconds since keys were last found evicted. */
  readonly evictedAgoMs?: number;
};

/**
 * Thrown when the store is slow, gone or overloaded. The caller answers UNAVAILABLE. The message
 * has no key and no credential.
 */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}
