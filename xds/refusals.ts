/** The client was told that there is no such resource. */
export const ABSENT = Symbol('absent');

/** What a client holds of a name: a version, ABSENT, or undefined for "it may be anything". */
export type Held = string | typeof ABSENT | undefined;

/**
 * The content of one rejected response. Maps a name to the version that it carried, or to ABSENT
 * for a removal.
 */
export type Rejected = ReadonlyMap<string, string | typeof ABSENT>;

/**
 * Remembers what a client has rejected and must not be sent again unchanged. A NACK does not say
 * which resource is at fault. So the resources of a rejected response are held back together until
 * one of them changes. Then the rest of them makes another response.
 */
export class Refusals {
  readonly #groups = new Set<Map<string, string | typeof ABSENT>>();
  readonly #byName = new Map<string, Map<string, string | typeof ABSENT>>();

  get isEmpty(): boolean {
    return this.#byName.size === 0;
  }

  has(name: string): boolean {
    return this.#byName.has(name);
  }

  add(rejected: Rejected): void {
    for (const name of rejected.keys()) this.forget(name);
    const group = new Map(rejected);
    if (group.size > 0) this.#groups.add(group);
    for (const name of group.keys()) this.#byName.set(name, group);
  }

  /** Whether something is still as it was rejected. `now` returns what a name would be sent as. */
  concern(now: (name: string) => string | typeof ABSENT): boolean {
    return [...this.#groups].some(group => [...group].some(([name, was]) => now(name) === was));
  }

  /**
   * Releases every group of which a part is no longer as it was rejected. `now` returns what a name
   * would be sent as.
   */
  release(now: (name: string) => string | typeof ABSENT): void {
    for (const group of this.#groups) {
      const unchanged = [...group].every(([name, was]) => now(name) === was);
      if (unchanged) continue;
      this.#groups.delete(group);
      for (const name of group.keys()) this.#byName.delete(name);
    }
  }

  clear(): void {
    this.#groups.clear();
    this.#byName.clear();
  }

  /** Forgets a name that the client no longer subscribes to, or that is being sent again. */
  forget(name: string): void {
    const group = this.#byName.get(name);
    if (group === undefined) return;
    this.#byName.delete(name);
    group.delete(name);
    if (group.size === 0) this.#groups.delete(group);
  }
}
