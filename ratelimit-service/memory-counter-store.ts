import { counterKeyDigest } from './counter-key-digest.ts';
import type { CounterStore, CounterStoreStatus, Counts, Hit } from './counter-store.ts';

export type MemoryCounterStoreOptions = {
  /** Keys that have a counter of their own, of all windows together; default 500,000, at most 2^24-1 (what a Map can hold). */
  readonly maxKeys?: number;
  /** Milliseconds since the epoch. It may jump. */
  readonly now: () => number;
  /** A number in [0, 1): the seed of a hash that clients shall not foresee. */
  readonly random: () => number;
};

/** The windows of one length: the counters of the one that is now. */
type Window = {
  readonly lengthMs: number;
  readonly index: number;
  readonly counts: Map<string, number>;
  /** Of keys beyond the bound, several of which share a counter. */
  shared: Float64Array | undefined;
};

const SHARED_COUNTERS = 65_536;
const LONGEST_KEY = 256;
/** A clock that is set back by less is taken to stand still: no window begins twice. */
const STEP_BACK_MS = 1000;
const DIGEST_MARK = '\0';

/**
 * Counters in this process. Exact up to `maxKeys` keys; a new key beyond it is counted together with others: never too little, so that never
 * more than the rate passes, though less may. All counters of a window are dropped at once when the first call after its end comes,
 * whatever that call counts.
 */
export class MemoryCounterStore implements CounterStore {
  readonly #maxKeys: number;
  readonly #now: () => number;
  readonly #seed: number;
  readonly #windows = new Map<number, Window>();
  #keys = 0;
  #sharedHits = 0;
  #last = Number.NEGATIVE_INFINITY;
  /** When the first of the windows ends. */
  #firstEnd = Number.POSITIVE_INFINITY;

  constructor({ maxKeys = 500_000, now, random }: MemoryCounterStoreOptions) {
    this.#maxKeys = Math.min(maxKeys, 2 ** 24 - 1);
    this.#now = now;
    this.#seed = Math.floor(random() * 2 ** 32);
  }

  count(hits: readonly Hit[]): Counts {
    const now = this.#tick();
    return { now, counts: hits.map(hit => this.#add(hit, now)) };
  }

  /** `keys` that have a counter of their own, `sharedHits` since the start that were counted together with other keys. */
  status(): CounterStoreStatus {
    return { keys: this.#keys, sharedHits: this.#sharedHits, waiting: 0 };
  }

  async close(): Promise<void> {
    this.#windows.clear();
    this.#keys = 0;
    this.#firstEnd = Number.POSITIVE_INFINITY;
  }

  #tick(): number {
    const now = this.#now();
    if (now < this.#last && this.#last - now <= STEP_BACK_MS) return this.#last;
    if (now >= this.#firstEnd || now < this.#last) this.#dropWindowsBut(now);
    this.#last = now;
    return now;
  }

  /** Windows that `now` is not in are over, or were of a clock that was wrong. */
  #dropWindowsBut(now: number): void {
    this.#firstEnd = Number.POSITIVE_INFINITY;
    for (const { counts, index, lengthMs } of this.#windows.values()) {
      if (Math.floor(now / lengthMs) === index) {
        this.#firstEnd = Math.min(this.#firstEnd, (index + 1) * lengthMs);
        continue;
      }
      this.#keys -= counts.size;
      this.#windows.delete(lengthMs);
    }
  }

  #add({ add, key, windowMs }: Hit, now: number): number {
    const window = this.#windows.get(windowMs) ?? this.#begin(windowMs, now);
    const name = boundedName(key);
    const held = window.counts.get(name);
    if (held === undefined) return this.#addNew(window, name, add);
    const count = saturated(held + add);
    if (add > 0) window.counts.set(name, count);
    return count;
  }

  #begin(lengthMs: number, now: number): Window {
    const index = Math.floor(now / lengthMs);
    const window: Window = { lengthMs, index, counts: new Map(), shared: undefined };
    this.#windows.set(lengthMs, window);
    this.#firstEnd = Math.min(this.#firstEnd, (index + 1) * lengthMs);
    return window;
  }

  #addNew(window: Window, name: string, add: number): number {
    const slot = window.shared === undefined && this.#keys < this.#maxKeys ? 0 : hashOf(name, this.#seed);
    // What a key has among the shared it takes along when it gets a counter of its own, because another window's end made room.
    const count = saturated((window.shared?.[slot] ?? 0) + add);
    if (add === 0) return count;
    if (this.#keys < this.#maxKeys) {
      window.counts.set(name, count);
      this.#keys += 1;
      return count;
    }
    window.shared ??= new Float64Array(SHARED_COUNTERS);
    window.shared[slot] = count;
    this.#sharedHits += 1;
    return count;
  }
}

function saturated(count: number): number {
  return Math.min(count, Number.MAX_SAFE_INTEGER);
}

/** The key itself, or a digest of a long one; a key that looks like a digest is taken for a long one. */
function boundedName(key: string): string {
  const isName = key.length <= LONGEST_KEY && !key.startsWith(DIGEST_MARK);
  return isName ? key : DIGEST_MARK + counterKeyDigest(key);
}

/** FNV-1a (RFC 9923) of UTF-16 code units, from a seed, folded to a shared counter's index. */
function hashOf(name: string, seed: number): number {
  let state = seed ^ 0x811c9dc5;
  for (let index = 0; index < name.length; index += 1)
    state = Math.imul(state ^ name.charCodeAt(index), 0x01000193);
  return (state ^ (state >>> 16)) & (SHARED_COUNTERS - 1);
}
