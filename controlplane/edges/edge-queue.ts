import type { After } from '#process/after.ts';
import type { EdgeChange } from './edge-changes.ts';

export type EdgeQueueParts = {
  /** Writes one change. It must not reject. */
  write(change: EdgeChange): Promise<void>;
  /** Called after each write. What has changed meanwhile is to be compared again. */
  written(): void;
  readonly after: After;
};

/** One write in this many ms, and at most this many at a time. */
const PACE_MS = 20;
const AT_ONCE = 4;

/** Writes changes at a bounded rate, each object one at a time. */
export class EdgeQueue {
  readonly #parts: EdgeQueueParts;
  readonly #underWay = new Set<string>();
  #waiting: readonly EdgeChange[] = [];
  #cancelPace: (() => void) | undefined;

  constructor(parts: EdgeQueueParts) {
    this.#parts = parts;
  }

  /** Replaces what waits. An object that is being written is left out. */
  set(changes: readonly EdgeChange[]): void {
    this.#waiting = changes.filter(({ key }) => !this.#underWay.has(key));
    this.#proceed();
  }

  #proceed(): void {
    if (this.#cancelPace !== undefined || this.#underWay.size >= AT_ONCE) return;
    const [next, ...waiting] = this.#waiting;
    if (next === undefined) return;
    this.#waiting = waiting;
    void this.#write(next);
    this.#cancelPace = this.#parts.after(PACE_MS, () => {
      this.#cancelPace = undefined;
      this.#proceed();
    });
  }

  async #write(change: EdgeChange): Promise<void> {
    this.#underWay.add(change.key);
    await this.#parts.write(change);
    this.#underWay.delete(change.key);
    this.#parts.written();
    this.#proceed();
  }
}
