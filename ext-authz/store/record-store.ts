import type { Eventually } from '#process/eventually.ts';
import type { RedisMemory } from '#redis/memory.ts';

/** A record as it is now. `version` changes with every write. */
export type StoredRecord = { readonly value: Uint8Array; readonly version: string };

/**
 * A set of records of which only the newest `most` (at least one) are kept. The name may be any
 * text, because only its hash is stored. A record that is taken or removed gives up its place. One
 * that has ended may hold its place until older ones have gone.
 */
export type RecordGroup = { readonly name: string; readonly most: number };

/**
 * Records with an end, which all replicas of the service share. Losing a record costs a login and
 * nothing else. Keys and values are opaque here. Keys are hashes and values are encrypted
 * (sealed-record.ts), so that a thief of the store has nothing to use. Records, leases and counters
 * of the same key are separate. Times are in ms, rounded up to whole ones, at least one.
 *
 * A store that cannot answer rejects with StoreUnavailable within its time. A `create` with groups,
 * and a `read` that knows another version, may take twice that, a `removeGroup` as often as the
 * group needs. `read` may also throw it at once. A write may have happened all the same.
 */
export type RecordStore = {
  /**
   * Reads a record, at once where no other process must be asked. The value of the version `known`
   * is not read, and is empty.
   * @returns undefined when there is no record, or it has ended
   */
  read(key: string, known?: string): Eventually<StoredRecord | undefined>;

  /**
   * Makes a record. It ends after `ttlMs`. In each of the groups that is full, the oldest record is
   * removed.
   * @returns false when there is one already
   */
  create(
    key: string,
    value: Uint8Array,
    ttlMs: number,
    groups?: readonly RecordGroup[],
  ): Promise<boolean>;

  /**
   * Replaces exactly this version of a record, so that a removal always wins. The record must have
   * been made in these groups, or in none. It is their newest now.
   * @returns false when the version is gone or was changed meanwhile
   */
  replace(
    key: string,
    version: string,
    value: Uint8Array,
    ttlMs: number,
    groups?: readonly RecordGroup[],
  ): Promise<boolean>;

  /**
   * Lists the keys in a group, the newest first, at most `most`. Some may be of records that have
   * ended.
   */
  members(name: string, most: number): Promise<readonly string[]>;

  /** Reads and removes in one step. Of several callers one gets it. */
  take(key: string): Promise<Uint8Array | undefined>;

  /** Removes a record. Returns true when there was one. */
  remove(key: string): Promise<boolean>;

  /** Removes all records of a group. Returns how many there were. */
  removeGroup(name: string): Promise<number>;

  /**
   * Acquires a lease. Returns true for one caller at a time. While the lease lasts, its own holder
   * gets false too. The lease ends after `ttlMs`, or by `release` of the same holder.
   */
  acquire(key: string, holder: string, ttlMs: number): Promise<boolean>;
  release(key: string, holder: string): Promise<void>;

  /**
   * Adds to a counter and returns its value, at most 2^53-1. The counter begins again `windowMs`
   * after its first count. `add` 0 only looks. A key always has the same window.
   */
  count(key: string, add: number, windowMs: number): Promise<number>;
  /**
   * Returns how many ms are left until that counter begins again, at most `windowMs`. 0 means that
   * it is empty.
   */
  windowLeft(key: string, windowMs: number): Promise<number>;

  /** Returns why no server is connected for some of the records, without asking. */
  unreached(): string | undefined;

  /** Returns how full its Redis is. It is not known of a file, and of the nodes of a cluster. */
  memory(): Promise<RedisMemory | undefined>;

  /** Lets what is under way end, and refuses later calls. */
  close(): Promise<void>;
};

/** The store is slow, gone or overloaded. The message has no key, no value and no credential. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

const LONGEST_MS = 100 * 365 * 86_400_000;

/**
 * Rounds a time to live to whole ms, at least 1 and at most a hundred years. Throws RangeError for
 * NaN, which is a mistake of ours.
 */
export function wholeMs(ms: number): number {
  if (Number.isNaN(ms)) throw new RangeError('a time to live that is not a number');
  return Math.min(Math.max(1, Math.ceil(ms)), LONGEST_MS);
}

/** Rounds what a counter adds to a whole number from 0 to 2^53-1. Throws RangeError for NaN. */
export function wholeAdd(add: number): number {
  if (Number.isNaN(add)) throw new RangeError('a count that is not a number');
  return Math.min(Math.max(0, Math.trunc(add)), Number.MAX_SAFE_INTEGER);
}
