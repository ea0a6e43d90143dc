export type CacheBounds = { readonly entries: number; readonly weight: number };

type Entry<V> = { readonly value: V; readonly weight: number; used: boolean };

/**
 * Keeps at most so many values, whose weights add up to at most so much; a value that is heavier
 * than that alone is not kept. The oldest goes first. One that was read since it came, or since it
 * was last spared, is spared once more (the CLOCK algorithm), so that reading costs no more than
 * looking it up.
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
    // not written each time: it would be fetched and sent back, of each of many
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

  /** Those with a second chance go to the end, where the loop meets them again. */
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
