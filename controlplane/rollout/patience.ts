import type { After } from '#process/after.ts';

/**
 * Tells what has been waited for too long. A wait begins with the first unanswered change, and
 * continues through later changes. Otherwise frequent changes would make everything wait for one
 * part that never answers.
 */
export class Patience {
  readonly #ms: () => number;
  readonly #after: After;
  readonly #changed: () => void;
  readonly #waits = new Map<string, { late: boolean; cancel: () => void }>();

  /** `changed` is called whenever a wait has exceeded what `ms` returned when it began. */
  constructor(ms: () => number, after: After, changed: () => void) {
    this.#ms = ms;
    this.#after = after;
    this.#changed = changed;
  }

  /** Waits for exactly these from now on. Waits that had begun continue. */
  waitFor(keys: Iterable<string>): void {
    const wanted = new Set(keys);
    for (const [key, { cancel }] of this.#waits) {
      if (wanted.has(key)) continue;
      cancel();
      this.#waits.delete(key);
    }
    for (const key of wanted) if (!this.#waits.has(key)) this.#begin(key);
  }

  isLate(key: string): boolean {
    return this.#waits.get(key)?.late === true;
  }

  #begin(key: string): void {
    const wait = { late: false, cancel: () => {} };
    this.#waits.set(key, wait);
    wait.cancel = this.#after(this.#ms(), () => {
      wait.late = true;
      this.#changed();
    });
  }
}
