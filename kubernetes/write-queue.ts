import { backOffMs } from './back-off.ts';

export type WriteQueueParts<T> = {
  /** Returns the key of the object that is written. Each object is written one at a time. */
  keyOf(item: T): string;
  /**
   * Writes one item. It must not reject. Resolves with the least ms to wait when the API could not
   * be used, and with undefined when it has answered.
   */
  write(item: T): Promise<number | undefined>;
  /**
   * Called after such a wait, and when an item was left out. What should be written is to be set.
   */
  again(): void;
  after(ms: number, run: () => void): () => void;
  /** Returns a number in [0, 1), for the jitter of the back-off. */
  random(): number;
};

/**
 * At most this many writes at a time. An API server that is busy answers later, so it sets the rate
 * (Kubernetes' page "API Priority and Fairness").
 */
const AT_ONCE = 16;
/** After a pause, so many answers in a row allow one more write at a time. */
const ANSWERS_A_STEP = 32;

/**
 * Writes what waits, as fast as the API answers. While the API cannot be used it sends nothing.
 * Then it begins with one write at a time, and slowly comes back to more.
 */
export class WriteQueue<T> {
  readonly #parts: WriteQueueParts<T>;
  readonly #underWay = new Set<string>();
  readonly #leftOut = new Set<string>();
  #waiting = new Map<string, T>();
  #atOnce = AT_ONCE;
  #answers = 0;
  #failures = 0;
  #cancelPause: (() => void) | undefined;

  constructor(parts: WriteQueueParts<T>) {
    this.#parts = parts;
  }

  /** Replaces what waits. An object that is being written is left out until it has been. */
  set(items: readonly T[]): void {
    this.#waiting = new Map(items.map(item => [this.#parts.keyOf(item), item]));
    for (const key of this.#underWay) if (this.#waiting.delete(key)) this.#leftOut.add(key);
    this.#proceed();
  }

  /** Forgets what waits, and that the API could not be used. */
  clear(): void {
    this.#waiting.clear();
    this.#leftOut.clear();
    this.#cancelPause?.();
    this.#cancelPause = undefined;
  }

  #proceed(): void {
    for (const [key, item] of this.#waiting) {
      if (this.#cancelPause !== undefined || this.#underWay.size >= this.#atOnce) return;
      this.#waiting.delete(key);
      void this.#write(key, item);
    }
  }

  async #write(key: string, item: T): Promise<void> {
    this.#underWay.add(key);
    const leastMs = await this.#parts.write(item);
    this.#underWay.delete(key);
    if (leastMs === undefined) this.#answered();
    else this.#failed(leastMs);
    if (this.#leftOut.delete(key)) this.#parts.again();
    this.#proceed();
  }

  #answered(): void {
    this.#failures = 0;
    this.#answers += 1;
    if (this.#answers % ANSWERS_A_STEP === 0) this.#atOnce = Math.min(AT_ONCE, this.#atOnce + 1);
  }

  /** What was sent at the same time fails for the same reason, and counts once. */
  #failed(leastMs: number): void {
    if (this.#cancelPause !== undefined) return;
    this.#atOnce = 1;
    this.#answers = 0;
    this.#failures += 1;
    const { after, random, again } = this.#parts;
    const ms = Math.max(leastMs, backOffMs(this.#failures, random()));
    this.#cancelPause = after(ms, () => {
      this.#cancelPause = undefined;
      again();
      this.#proceed();
    });
  }
}
