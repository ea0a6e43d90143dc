/** How many unknown keys in a row are asked for at once, because several may be new. */
const MOST = 5;
/** Afterwards one more is asked for each so many ms, however many keys strangers invent. */
const ONE_EACH_MS = 5_000;
/** The same key is asked for again after so many ms. */
const AGAIN_MS = 10_000;

/**
 * Bounds how often tokens with unknown keys cause a fetch of a key set. It is a bucket of tokens,
 * and a key that was just asked for takes none. Times are in ms since the epoch.
 */
export class ReloadBudget {
  readonly #askedAt = new Map<string, number>();
  #left = MOST;
  #countedAt = 0;

  /**
   * Returns whether the set may be fetched for a key. Takes one token of the bucket when it may.
   */
  take(key: string, now: number): boolean {
    this.#refill(now);
    if (this.#left < 1 || this.#askedAt.has(key)) return false;
    this.#left -= 1;
    this.#askedAt.set(key, now);
    return true;
  }

  #refill(now: number): void {
    const gained = Math.max(0, now - this.#countedAt) / ONE_EACH_MS;
    this.#left = Math.min(MOST, this.#left + gained);
    this.#countedAt = now;
    for (const [key, at] of this.#askedAt)
      if (now - at >= AGAIN_MS || now < at) this.#askedAt.delete(key);
  }
}
