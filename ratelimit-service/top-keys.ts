import type { Counts, Hit } from './counter-store.ts';

/** A counter of a limit in its present window. */
export type TopKey = {
  readonly group: string;
  readonly count: number;
  /** When it begins again, in ms since the epoch. */
  readonly ends: number;
};

/** The highest of one limit. `least` is what a key must exceed to get in. */
type Table = {
  window: number;
  readonly windowMs: number;
  readonly keys: Map<string, number>;
  least: number;
};

/** Keys that are remembered of each limit, and limits. */
const MOST_KEYS = 20;
const MOST_LIMITS = 1_000;
/** A label group that is longer is not remembered. */
const LONGEST_GROUP = 1_024;

/**
 * Remembers the highest counters of each limit, by the counts that the store gave. In Redis they
 * are those of all replicas, so a key that comes here is judged as a whole.
 */
export class TopKeys {
  readonly #tables = new Map<string, Table>();

  counted(hits: readonly Hit[], { counts, now }: Counts): void {
    for (let at = 0; at < hits.length; at += 1) {
      const hit = hits[at];
      const count = counts[at];
      if (hit !== undefined && count !== undefined && count > 0) this.#count(hit, count, now);
    }
  }

  /** A counter that was reset begins again when it is counted next. */
  reset(hits: readonly Hit[]): void {
    for (const { counter, group } of hits) this.#tables.get(counter)?.keys.delete(group);
  }

  /** Returns the highest of a limit at this time, the highest first. */
  of(counter: string, now: number): readonly TopKey[] {
    const table = this.#tables.get(counter);
    if (table === undefined || Math.floor(now / table.windowMs) > table.window) return [];
    const ends = (table.window + 1) * table.windowMs;
    return [...table.keys]
      .map(([group, count]) => ({ group, count, ends }))
      .sort((a, b) => b.count - a.count);
  }

  #count({ counter, group, windowMs }: Hit, count: number, now: number): void {
    const window = Math.floor(now / windowMs);
    const table = this.#tables.get(counter) ?? this.#open(counter, window, windowMs);
    if (window !== table.window) begin(table, window);
    const { keys } = table;
    if (keys.size >= MOST_KEYS && count <= table.least) return;
    if (group.length > LONGEST_GROUP) return;
    keys.set(group, count);
    if (keys.size > MOST_KEYS) dropLeast(table);
  }

  #open(counter: string, window: number, windowMs: number): Table {
    if (this.#tables.size >= MOST_LIMITS) this.#dropOldest();
    const table: Table = { window, windowMs, keys: new Map(), least: 0 };
    this.#tables.set(counter, table);
    return table;
  }

  #dropOldest(): void {
    const [oldest] = this.#tables.keys();
    if (oldest !== undefined) this.#tables.delete(oldest);
  }
}

function begin(table: Table, window: number): void {
  table.window = window;
  table.keys.clear();
  table.least = 0;
}

/** Counts only rise, so what was dropped stays below those that are kept. */
function dropLeast(table: Table): void {
  let [lowest, least] = ['', Number.POSITIVE_INFINITY];
  for (const [group, count] of table.keys) if (count < least) [lowest, least] = [group, count];
  table.keys.delete(lowest);
  table.least = Math.min(...table.keys.values());
}
