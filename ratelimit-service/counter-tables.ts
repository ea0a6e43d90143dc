import { sweep } from './counter-sweep.ts';
import { CounterTable } from './counter-table.ts';

/** What the tables hold, and which keys were dropped for want of room. */
export type TablesStatus = {
  readonly keys: number;
  readonly maxKeys: number;
  /**
   * When CROWDED of the room was last used, by the store's clock, and which counter used most of
   * it.
   */
  readonly crowded?: Crowded;
  /** Keys dropped since the start, by counter. */
  readonly dropped: ReadonlyMap<string, Dropped>;
};

export type Crowded = { readonly at: number; readonly counter: string };
export type Dropped = { readonly keys: number; readonly at: number };

/** Operators are warned when this part of the room is used. */
const CROWDED = 0.8;
/** From this part on keys are dropped, until the lower one is reached. */
const FULL = 7 / 8;
const ROOM = 5 / 8;
/**
 * Keys that a sweep looks at for each new key. It has looked at all of them before the rest of the
 * room is used.
 */
const STEPS = 8;
/** The most counters whose dropped keys are remembered. */
const MOST_TOLD = 1_000;

/**
 * Keeps counters in tables, one for each limit, with at most `maxKeys` keys together. When the room
 * is nearly used, a sweep drops a quarter of the keys. It drops a few for each new key, so that no
 * request waits for it. The first call after a window's end drops all keys of that window.
 */
export class CounterTables {
  readonly #maxKeys: number;
  readonly #tables = new Map<string, CounterTable>();
  readonly #dropped = new Map<string, Dropped>();
  #sweep: Generator<void, void> | undefined;
  #crowded: Crowded | undefined;
  #keys = 0;
  #firstEnd = Number.POSITIVE_INFINITY;

  constructor(maxKeys: number) {
    this.#maxKeys = maxKeys;
  }

  /** When the first of the windows ends. */
  get firstEnd(): number {
    return this.#firstEnd;
  }

  /** Returns the table of a counter, which is empty when its window begins. */
  at(counter: string, lengthMs: number, now: number): CounterTable {
    return this.#tables.get(counter) ?? this.#open(counter, lengthMs, now);
  }

  /** Adds a key to a table that does not have it. */
  begin(table: CounterTable, name: string, count: number, now: number): void {
    if (this.#keys >= this.#maxKeys * FULL) this.#makeRoom(now);
    table.set(name, 0, count);
    this.#keys += 1;
  }

  /** Drops a key of a table, if it has it. */
  drop(table: CounterTable, name: string): void {
    const count = table.get(name);
    if (count === undefined) return;
    table.delete(name, count);
    this.#keys -= 1;
  }

  /**
   * Drops windows that `now` is not in. They have ended, or the clock was wrong. The last key was
   * counted at `before`.
   */
  dropWindowsBut(now: number, before: number): void {
    this.#notice(before);
    this.#sweep = undefined;
    this.#firstEnd = Number.POSITIVE_INFINITY;
    for (const [counter, { index, lengthMs, size }] of this.#tables) {
      if (Math.floor(now / lengthMs) === index) {
        this.#firstEnd = Math.min(this.#firstEnd, (index + 1) * lengthMs);
        continue;
      }
      this.#keys -= size;
      this.#tables.delete(counter);
    }
  }

  /** Returns what the tables hold. The last key was counted at `before`. */
  status(before: number): TablesStatus {
    this.#notice(before);
    const crowded = this.#crowded;
    const held = { keys: this.#keys, maxKeys: this.#maxKeys, dropped: this.#dropped };
    return crowded === undefined ? held : { ...held, crowded };
  }

  clear(): void {
    this.#sweep = undefined;
    this.#tables.clear();
    this.#keys = 0;
    this.#firstEnd = Number.POSITIVE_INFINITY;
  }

  #open(counter: string, lengthMs: number, now: number): CounterTable {
    const table = new CounterTable(lengthMs, now);
    this.#tables.set(counter, table);
    this.#firstEnd = Math.min(this.#firstEnd, (table.index + 1) * lengthMs);
    return table;
  }

  /** Counts that rise meanwhile can outrun the steps. Then the sweep finishes at once. */
  #makeRoom(now: number): void {
    for (let step = 0; step < STEPS || this.#keys >= this.#maxKeys; step += 1) {
      this.#sweep ??= this.#beginSweep(now);
      if (this.#sweep.next().done) this.#sweep = undefined;
    }
  }

  #beginSweep(now: number): Generator<void, void> {
    this.#notice(now);
    return sweep(this.#tables, Math.floor(this.#maxKeys * ROOM), counter => {
      this.#keys -= 1;
      this.#tell(counter, now);
    });
  }

  /** Runs before keys go, so that no peak is missed and no request pays for it. */
  #notice(now: number): void {
    if (this.#keys < this.#maxKeys * CROWDED) return;
    let counter = '';
    let most = 0;
    for (const [name, { size }] of this.#tables) if (size > most) [counter, most] = [name, size];
    this.#crowded = { at: now, counter };
  }

  #tell(counter: string, at: number): void {
    const [oldest] = this.#dropped.keys();
    if (this.#dropped.size >= MOST_TOLD && oldest !== undefined && !this.#dropped.has(counter))
      this.#dropped.delete(oldest);
    this.#dropped.set(counter, { keys: 1 + (this.#dropped.get(counter)?.keys ?? 0), at });
  }
}
