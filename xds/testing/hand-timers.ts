/** Timers that a test runs by hand. */
export class HandTimers {
  readonly #timers = new Set<() => void>();

  readonly after = (_ms: number, callback: () => void): (() => void) => {
    this.#timers.add(callback);
    return () => this.#timers.delete(callback);
  };

  get pending(): number {
    return this.#timers.size;
  }

  /** Runs the timers that are set now. */
  run(): void {
    const due = [...this.#timers];
    this.#timers.clear();
    for (const callback of due) callback();
  }
}
