import {
  BEGIN,
  type ChildEvent,
  type ChildState,
  isAlive,
  type Phase,
  phaseMs,
  type Step,
  step,
} from './child.ts';

/** The process that a ChildLife leads. */
export type Led = {
  spawn(): void;
  signal(signal: 'SIGTERM' | 'SIGKILL'): void;
  /** Is called after each change of phase. */
  changed(): void;
};

/**
 * Leads a process through the phases of child.ts. It takes in what happens, does what follows from
 * it, and keeps the timer.
 */
export class ChildLife {
  readonly #led: Led;
  readonly #stopMs: number | undefined;
  #state: ChildState = BEGIN.state;
  #timer: NodeJS.Timeout | undefined;

  /** `stopMs` is how long the process may take to end after SIGTERM. Default: that of child.ts. */
  constructor(led: Led, stopMs?: number) {
    this.#led = led;
    this.#stopMs = stopMs;
  }

  get phase(): Phase {
    return this.#state.phase;
  }

  /** Returns whether there is a process to signal. */
  get isAlive(): boolean {
    return isAlive(this.#state);
  }

  /**
   * Returns how long this phase lasts, in ms.
   * @returns undefined when it lasts until something happens
   */
  get phaseMs(): number | undefined {
    return phaseMs(this.#state, this.#stopMs);
  }

  /** Spawns the process. */
  begin(): void {
    this.#enter(BEGIN);
  }

  happen(event: ChildEvent): void {
    this.#enter(step(this.#state, event));
  }

  #enter({ state, effect }: Step): void {
    const changed = state.phase !== this.#state.phase;
    this.#state = state;
    if (changed) this.#setTimer();
    if (effect === 'spawn') this.#led.spawn();
    else if (effect !== undefined) this.#led.signal(effect);
    if (changed) this.#led.changed();
  }

  #setTimer(): void {
    clearTimeout(this.#timer);
    const ms = this.phaseMs;
    this.#timer = ms === undefined ? undefined : setTimeout(() => this.happen('timer'), ms);
  }
}
