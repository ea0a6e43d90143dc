/** What a peer may do at once, and how much more per second. Time is in ms. */
export type Rate = { readonly burst: number; readonly perSecond: number };

/**
 * Counts tokens, which a peer spends on useless work that costs us. The clock is read only when
 * they are used up.
 */
export class Budget {
  readonly #rate: Rate;
  readonly #now: () => number;
  #tokens: number;
  #since: number;

  constructor(rate: Rate, now: () => number) {
    this.#rate = rate;
    this.#now = now;
    this.#tokens = rate.burst;
    this.#since = now();
  }

  /**
   * Takes one token.
   * @returns false when there is none left
   */
  spend(): boolean {
    if (this.#tokens < 1) this.#refill();
    this.#tokens--;
    return this.#tokens >= 0;
  }

  earn(tokens: number): void {
    this.#tokens = Math.min(this.#rate.burst, this.#tokens + tokens);
  }

  #refill(): void {
    const now = this.#now();
    this.earn(((now - this.#since) * this.#rate.perSecond) / 1_000);
    this.#since = now;
  }
}
