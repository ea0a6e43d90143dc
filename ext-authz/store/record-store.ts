import type { Eventually } from '#process/eventually.ts';

/** A record as it is now. `version` changes with every write. */
export type StoredRecord = { readonly value: Uint8Array; readonly version: string };

/**
 * A set of records of which only the newest `most` (one at least) are kept. The name may be any
 * text: only its hash is stored. A record that is taken or removed gives up its place; one that has
 * ended may hold it until older ones have gone.
 */
export type RecordGroup = { readonly name: string; readonly most: number };

/**
 * Records with an end, shared by all replicas of the service. Losing a record costs a login,
 * nothing else. Keys and values are opaque here: keys are hashes, values are encrypted
 * (sealed-record.ts), so that a thief of the store has nothing that he could use. Records, leases
 * and counters of the same key do not meet. Times are in ms, rounded up to whole ones, one at
 * least. A store that cannot answer rejects with StoreUnavailable within its time; a `create` with
 * groups, and a `read` that knows another version, within twice that. `read` may also throw it at
 * once. A write may then have happened all the same.
 */
export type RecordStore = {
  /**
   * Undefined: there is none, or it has ended. Of the version `known` the value is not read: it is
   * empty. At once where nobody has to be asked.
   */
  read(key: string, known?: string): Eventually<StoredRecord | undefined>;

  /**
   * Makes a record; false when there is one. It ends after `ttlMs`. In each of the groups, when
   * they are full, the oldest record goes.
   */
  create(
    key: string,
    value: Uint8Array,
    ttlMs: number,
    groups?: readonly RecordGroup[],
  ): Promise<boolean>;

  /**
   * Replaces exactly this version of a record; false when it is gone or was changed meanwhile, so
   * that a removal always wins.
   */
  replace(key: string, version: string, value: Uint8Array, ttlMs: number): Promise<boolean>;

  /** Reads and removes at once: of several callers one gets it. */
  take(key: string): Promise<Uint8Array | undefined>;

  /** True when there was one. */
  remove(key: string): Promise<boolean>;

  /**
   * True for one caller at a time, whoever it is; the lease ends after `ttlMs`, or by `release` of
   * the same holder.
   */
  acquire(key: string, holder: string, ttlMs: number): Promise<boolean>;
  release(key: string, holder: string): Promise<void>;

  /**
   * Adds to a counter that begins anew `windowMs` after its first count, and gives what it holds,
   * at most 2^53-1; `add` 0 only looks. A key always has the same window.
   */
  count(key: string, add: number, windowMs: number): Promise<number>;
  /** Ms until that counter begins anew, at most `windowMs`; 0: it holds nothing. */
  windowLeft(key: string, windowMs: number): Promise<number>;

  /** Lets what is under way end; whatever comes later is refused. */
  close(): Promise<void>;
};

/** The store is slow, gone or overloaded. The message has no key, no value and no credential. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

const LONGEST_MS = 100 * 365 * 86_400_000;

/**
 * A time to live as stores take it: whole ms, 1 at least, a hundred years at most. Throws
 * RangeError for NaN, which is a mistake of ours.
 */
export function wholeMs(ms: number): number {
  if (Number.isNaN(ms)) throw new RangeError('a time to live that is no number');
  return Math.min(Math.max(1, Math.ceil(ms)), LONGEST_MS);
}

/** What a counter adds: a whole number from 0 to 2^53-1. Throws RangeError for NaN. */
export function wholeAdd(add: number): number {
  if (Number.isNaN(add)) throw new RangeError('a count that is no number');
  return Math.min(Math.max(0, Math.trunc(add)), Number.MAX_SAFE_INTEGER);
}
