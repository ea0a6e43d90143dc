export type CacheBounds = { readonly entries: number; readonly weight: number };

type Entry<V> = { readonly value: V; readonly weight: number };

/** Keeps what was used last: at most so many values, whose weights add up to at most so much. What is heavier than all may be is not kept. */
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
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  set(key: string, value: V, weight = 1): void {
    this.delete(key);
    if (weight > this.#bounds.weight) return;
    this.#entries.set(key, { value, weight });
    this.#weight += weight;
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#bounds.entries && this.#weight <= this.#bounds.weight) return;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#weight -= entry.weight;
  }
}
