import type { After } from './after.ts';

/** Timers by name, of which each runs once at a time. */
export class Timers<Name extends string> {
  readonly #after: After;
  readonly #running = new Map<Name, () => void>();

  constructor(after: After) {
    this.#after = after;
  }

  /** Calls `run` in `ms`, unless the timer of this name runs already. */
  start(name: Name, ms: number, run: () => void): void {
    if (this.#running.has(name)) return;
    const end = () => {
      this.#running.delete(name);
      run();
    };
    this.#running.set(name, this.#after(ms, end));
  }

  cancel(...names: readonly Name[]): void {
    for (const name of names) {
      this.#running.get(name)?.();
      this.#running.delete(name);
    }
  }

  cancelAll(): void {
    this.cancel(...this.#running.keys());
  }
}
