/** Where counts are told apart no more: what is dropped of those above it are the oldest. */
const HIGHEST = 1_024;

export function levelOf(count: number): number {
  return Math.min(count, HIGHEST);
}

/** Which counts are dropped: all below the level, and so many at the level, the oldest first. */
export type Cut = { readonly level: number; readonly atLevel: number };

/** The counters of one limit in its window that is now, by label group. */
export class CounterTable {
  readonly lengthMs: number;
  /** Of the window, counted from the epoch. */
  readonly index: number;
  readonly #counts = new Map<string, number>();
  /** How many keys have a count of 0, of 1 and so on to HIGHEST, which is all the others. */
  readonly #levels: number[] = [0];

  constructor(lengthMs: number, now: number) {
    this.lengthMs = lengthMs;
    this.index = Math.floor(now / lengthMs);
  }

  get size(): number {
    return this.#counts.size;
  }

  get(name: string): number | undefined {
    return this.#counts.get(name);
  }

  /** A count in place of an earlier one, which is 0 for a new key. */
  set(name: string, earlier: number, count: number): void {
    this.#counts.set(name, count);
    if (earlier >= HIGHEST) return;
    if (earlier > 0) this.#move(earlier, -1);
    this.#move(levelOf(count), 1);
  }

  delete(name: string, count: number): void {
    this.#counts.delete(name);
    this.#move(levelOf(count), -1);
  }

  /** The oldest first. Keys may come and go meanwhile. */
  entries(): Iterable<readonly [name: string, count: number]> {
    return this.#counts;
  }

  /** The cut that drops so many. */
  cut(drop: number): Cut {
    let atLevel = drop;
    for (const [level, keys] of this.#levels.entries()) {
      if (keys >= atLevel) return { level, atLevel };
      atLevel -= keys;
    }
    return { level: HIGHEST, atLevel };
  }

  #move(level: number, by: number): void {
    while (this.#levels.length <= level) this.#levels.push(0);
    this.#levels[level] = (this.#levels[level] ?? 0) + by;
  }
}
