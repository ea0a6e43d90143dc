/**
 * What one compilation keeps for the next: a result under a key that spells all its inputs. An unchanged input gives
 * the very same object again, which costs nothing here and lets the encoder reuse its bytes.
 */
export class Memo {
  #last = new Map<string, unknown>();
  #next = new Map<string, unknown>();

  /** The result of `make` under this key: the earlier one if there is one. One key must always be used with one type. */
  get<T>(key: string, make: () => T): T {
    const known = this.#next.get(key) ?? this.#last.get(key);
    const value = known === undefined ? make() : (known as T);
    this.#next.set(key, value);
    return value;
  }

  /** Ends a compilation: what it did not ask for is forgotten. */
  endCompilation(): void {
    this.#last = this.#next;
    this.#next = new Map();
  }
}
