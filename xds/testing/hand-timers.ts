/** Timers that a test runs by hand. */
export class HandTimers {
  readonly #timers = new Map<() => void, number>();

  readonly after = (ms: number, callback: () => void): (() => void) => {
    const timer = () => callback();
    this.#timers.set(timer, ms);
    return () => this.#timers.delete(timer);
  };

  get pending(): number {
    return this.#timers.size;
  }

  /** The delays, in ms, of the timers that are set. */
  get delays(): readonly number[] {
    return [...this.#timers.values()];
  }

  /** Runs the timer that was set before all others. */
  runFirst(): void {
    const [first] = this.#timers.keys();
    if (first === undefined) throw new Error('No timer is set');
    this.#timers.delete(first);
    first();
  }

  /** Runs the timers that are set now: all of them, or those of so many ms. */
  run(only?: number): void {
    const due = [...this.#timers].filter(([, ms]) => only === undefined || ms === only);
    for (const [timer] of due) this.#timers.delete(timer);
    for (const [timer] of due) timer();
  }
}
