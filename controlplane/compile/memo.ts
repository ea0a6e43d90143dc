/** A result, and its inputs besides its owner. */
type Made = { readonly inputs: readonly unknown[]; readonly value: unknown };

/**
 * What one compilation keeps for the next. The parser returns the very same object for what did not
 * change. So a result belongs to the object that it was made of, and is forgotten with it. An
 * unchanged result costs nothing here and lets the encoder reuse its bytes.
 */
export class Memo {
  readonly #made = new Map<string, WeakMap<object, Made>>();

  /**
   * Returns what `make` gives for this owner: the earlier result, if all other inputs are still the
   * same. `make` must depend on nothing else, and one `what` must always be used with one type.
   */
  of<T>(owner: object, what: string, inputs: readonly unknown[], make: () => T): T {
    const made = this.#made.get(what) ?? this.#begin(what);
    const known = made.get(owner);
    if (known !== undefined && isSame(known.inputs, inputs)) return known.value as T;
    const value = make();
    made.set(owner, { inputs, value });
    return value;
  }

  #begin(what: string): WeakMap<object, Made> {
    const made = new WeakMap<object, Made>();
    this.#made.set(what, made);
    return made;
  }
}

function isSame(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((input, index) => input === b[index]);
}
