/** Counts from here on are not told apart. Of the keys above it, the oldest are dropped. */
const HIGHEST = 1_024;

export function levelOf(count: number): number {
  return Math.min(count, HIGHEST);
}

/** Which counts are dropped: all below the level, and the oldest `atLevel` at the level. */
export type Cut = { readonly level: number; readonly atLevel: number };

/** The counters of one limit in its present window, by label group. */
export class CounterTable {
  readonly lengthMs: number;
  /** The index of the window, counted from the epoch. */
  readonly index: number;
  readonly #counts = new Map<string, number>();
  /** How many keys have a count of 0, of 1 and so on. The last entry is for HIGHEST and above. */
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

  /** Replaces an earlier count, which is 0 for a new key. */
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

  /** Lists the keys, the oldest first. Keys may come and go meanwhile. */
  entries(): Iterable<readonly [name: string, count: number]> {
    return this.#counts;
  }

  /** Returns the cut that drops `drop` keys. */
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
