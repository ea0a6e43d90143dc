import { counterKeyDigest } from './counter-key-digest.ts';
import type { CounterStore, CounterStoreStatus, Counts, Hit } from './counter-store.ts';
import type { CounterTable } from './counter-table.ts';
import { CounterTables } from './counter-tables.ts';

export type MemoryCounterStoreOptions = {
  /**
   * The most counters, of all limits together. Default: 500,000. At most 2^24-1, which is what a
   * Map holds.
   */
  readonly maxKeys?: number;
  /** Milliseconds since the epoch. It may jump. */
  readonly now: () => number;
};

/**
 * The longest group name that is kept as it is, in UTF-16 code units. A longer one is kept as its
 * digest.
 */
const LONGEST_NAME = 128;
/**
 * A clock that is set back by less than this is treated as standing still. So no window begins
 * twice.
 */
const STEP_BACK_MS = 1000;
const DIGEST_MARK = '\0';

/**
 * Keeps counters in this process, exact up to `maxKeys`. Beyond that the lowest are dropped, as
 * CounterTables says. A dropped counter begins again at 0, so no client is rejected below its rate.
 */
export class MemoryCounterStore implements CounterStore {
  readonly #tables: CounterTables;
  readonly #now: () => number;
  #last = Number.NEGATIVE_INFINITY;

  constructor({ maxKeys = 500_000, now }: MemoryCounterStoreOptions) {
    this.#tables = new CounterTables(Math.min(maxKeys, 2 ** 24 - 1));
    this.#now = now;
  }

  count(hits: readonly Hit[]): Counts {
    const now = this.#tick();
    return { now, counts: hits.map(hit => this.#add(hit, now)) };
  }

  async reset(hits: readonly Hit[]): Promise<void> {
    const now = this.#tick();
    for (const { counter, group, windowMs } of hits)
      this.#tables.drop(this.#tables.at(counter, windowMs, now), boundedName(group));
  }

  status(): CounterStoreStatus {
    return { ...this.#tables.status(this.#last), waiting: 0 };
  }

  async close(): Promise<void> {
    this.#tables.clear();
  }

  #tick(): number {
    const now = this.#now();
    if (now < this.#last && this.#last - now <= STEP_BACK_MS) return this.#last;
    if (now >= this.#tables.firstEnd || now < this.#last)
      this.#tables.dropWindowsBut(now, this.#last);
    this.#last = now;
    return now;
  }

  #add({ add, counter, group, windowMs }: Hit, now: number): number {
    const table = this.#tables.at(counter, windowMs, now);
    const name = boundedName(group);
    const held = table.get(name);
    if (held === undefined) return this.#addNew(table, name, saturated(add), now);
    const count = saturated(held + add);
    if (add > 0) table.set(name, held, count);
    return count;
  }

  #addNew(table: CounterTable, name: string, add: number, now: number): number {
    if (add > 0) this.#tables.begin(table, name, add, now);
    return add;
  }
}

function saturated(count: number): number {
  return Math.min(count, Number.MAX_SAFE_INTEGER);
}

/**
 * Returns the group itself, or the digest of a long one. A group that looks like a digest is
 * treated as a long one.
 */
function boundedName(group: string): string {
  const isName = group.length <= LONGEST_NAME && !group.startsWith(DIGEST_MARK);
  return isName ? group : DIGEST_MARK + counterKeyDigest(group);
}
