/** How much time a ring covers: `steps` of `stepMs` each. */
export type RingTime = { readonly steps: number; readonly stepMs: number };

/**
 * Sums by column and step of time, for the newest steps alone. Its memory is fixed. Times are in ms
 * since 1970.
 */
export class Ring {
  readonly time: RingTime;
  readonly #columns: number;
  readonly #sums: Float32Array;
  /** The number of the newest step, counted from 1970. */
  #newest = Number.NEGATIVE_INFINITY;

  constructor(columns: number, time: RingTime) {
    this.time = time;
    this.#columns = columns;
    this.#sums = new Float32Array(columns * time.steps);
  }

  stepAt(ms: number): number {
    return Math.floor(ms / this.time.stepMs);
  }

  /**
   * Adds a value that came about evenly between two times, which may be years apart. Drops what is
   * too old.
   */
  add(column: number, value: number, from: number, to: number): void {
    const { stepMs, steps } = this.time;
    const last = this.stepAt(to);
    const first = Math.min(this.stepAt(from), last);
    if (first === last) this.#addTo(last, column, value);
    else
      for (let step = Math.max(first, last - steps + 1); step <= last; step++) {
        const covered = Math.min(to, (step + 1) * stepMs) - Math.max(from, step * stepMs);
        this.#addTo(step, column, (value * covered) / (to - from));
      }
  }

  /**
   * Returns the sum of a column in the steps from `first` to `last`, which are counted from 1970.
   */
  sum(column: number, first: number, last = first): number {
    const { steps } = this.time;
    let sum = 0;
    const end = Math.min(last, this.#newest);
    for (let step = Math.max(first, this.#newest - steps + 1); step <= end; step++)
      sum += this.#sums[(step % steps) * this.#columns + column] ?? 0;
    return sum;
  }

  /** Returns whether any of its steps is after this time. */
  isNewerThan(ms: number): boolean {
    return this.#newest > this.stepAt(ms);
  }

  #addTo(step: number, column: number, value: number): void {
    const { steps } = this.time;
    if (step <= this.#newest - steps) return;
    this.#advance(step);
    const at = (step % steps) * this.#columns + column;
    this.#sums[at] = (this.#sums[at] ?? 0) + value;
  }

  /** Makes room for a newer step. */
  #advance(step: number): void {
    const { steps } = this.time;
    if (step <= this.#newest) return;
    const first = Math.max(this.#newest + 1, step - steps + 1);
    for (let each = first; each <= step; each++) {
      const at = (each % steps) * this.#columns;
      this.#sums.fill(0, at, at + this.#columns);
    }
    this.#newest = step;
  }
}
