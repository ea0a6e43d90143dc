export type CacheBounds = { readonly entries: number; readonly weight: number };

type Entry<V> = { readonly value: V; readonly weight: number; used: boolean };

/**
 * Keeps at most so many values, whose weights add up to at most so much. A value that is heavier
 * than that alone is not kept. The oldest is evicted first. One that was read since it was added,
 * or since it was last spared, is spared once more (the CLOCK algorithm). Reading then costs no
 * more than a lookup.
 */
export class BoundedCache<V> {
  readonly #bounds: CacheBounds;
  readonly #entries = new Map<string, Entry<V>>();
  #weight = 0;

  constructor(bounds: CacheBounds) {
    this.#bounds = bounds;
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    // Written only once. Each write would fetch the cache line and send it back, for each of many
    // entries.
    if (!entry.used) entry.used = true;
    return entry.value;
  }

  set(key: string, value: V, weight = 1): void {
    this.delete(key);
    if (weight > this.#bounds.weight || this.#bounds.entries < 1) return;
    this.#makeRoom(weight);
    this.#entries.set(key, { value, weight, used: false });
    this.#weight += weight;
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#weight -= entry.weight;
  }

  /** Entries with a second chance go to the end, where the loop meets them again. */
  #makeRoom(weight: number): void {
    for (const [key, entry] of this.#entries) {
      if (this.#entries.size < this.#bounds.entries && this.#weight + weight <= this.#bounds.weight)
        return;
      this.delete(key);
      if (!entry.used) continue;
      this.#entries.set(key, { ...entry, used: false });
      this.#weight += entry.weight;
    }
  }
}
