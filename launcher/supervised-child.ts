import type { ChildProcess } from 'node:child_process';
import {
  BEGIN,
  type ChildEvent,
  type ChildState,
  isAlive,
  type Phase,
  phaseMs,
  type Step,
  step,
} from '#process/child.ts';
import type { LogFile } from './log-file.ts';
import type { OrphanGuard } from './orphan-guard.ts';
import type { Part } from './part.ts';
import { repeatFilter } from './repeat-filter.ts';
import { runPart } from './run-part.ts';

export type Supervision = {
  readonly guard: OrphanGuard;
  readonly log: LogFile;
  readonly now: () => number;
  /** One line for the operator. */
  say(problem: string): void;
  /** After each change of phase. */
  changed(child: SupervisedChild): void;
};

/** A part that runs, and is started again with a growing pause whenever it ends by itself, until it is stopped. */
export class SupervisedChild {
  readonly part: Part;
  readonly #supervision: Supervision;
  readonly #ended = Promise.withResolvers<void>();
  readonly #isNews: (problem: string) => boolean;
  #state: ChildState = BEGIN.state;
  #process: ChildProcess | undefined;
  #timer: NodeJS.Timeout | undefined;
  #starts = 0;

  constructor(part: Part, supervision: Supervision) {
    this.part = part;
    this.#supervision = supervision;
    this.#isNews = repeatFilter(supervision.now);
    this.#enter(BEGIN);
  }

  get phase(): Phase {
    return this.#state.phase;
  }

  /** Whether it answers, as far as one knows. */
  get isReady(): boolean {
    return this.phase === 'ready' || this.phase === 'running';
  }

  get pid(): number | undefined {
    return isAlive(this.#state) ? this.#process?.pid : undefined;
  }

  /** How often it was started again. */
  get restarts(): number {
    return this.#starts - 1;
  }

  /** From here on it is not started again when it ends. */
  drain(): void {
    this.#happen('drain');
  }

  /** SIGTERM, and SIGKILL when that is not enough. Resolves when it has ended. */
  stop(): Promise<void> {
    this.#happen('stop');
    return this.#ended.promise;
  }

  /** SIGKILL. Resolves when it has ended. */
  kill(): Promise<void> {
    this.#happen('kill');
    return this.#ended.promise;
  }

  #happen(event: ChildEvent): void {
    this.#enter(step(this.#state, event));
  }

  #enter({ state, effect }: Step): void {
    const changed = state.phase !== this.#state.phase;
    this.#state = state;
    if (changed) this.#setTimer();
    if (effect === 'spawn') this.#spawn();
    else if (effect !== undefined) this.#process?.kill(effect);
    if (!changed) return;
    if (state.phase === 'stopped' || state.phase === 'failed') this.#end();
    this.#supervision.changed(this);
  }

  #setTimer(): void {
    clearTimeout(this.#timer);
    const ms = phaseMs(this.#state);
    this.#timer = ms === undefined ? undefined : setTimeout(() => this.#happen('timer'), ms);
  }

  #spawn(): void {
    this.#starts += 1;
    const { guard, log } = this.#supervision;
    this.#process = runPart(this.part, {
      guard,
      log,
      problem: text => this.#tell(text),
      ready: () => this.#happen('ready'),
      ended: (how, spawned) => this.#over(how, spawned),
    });
  }

  #tell(problem: string): void {
    // That it is being stopped is a warning to an Envoy.
    if (this.phase !== 'stopping' && this.#isNews(problem)) this.#supervision.say(problem);
  }

  #over(how: string, spawned: boolean): void {
    this.#happen(spawned ? 'exited' : 'unspawnable');
    if (this.phase === 'failed') this.#supervision.say(how);
    if (this.phase !== 'backoff') return;
    this.#supervision.say(`${how}; starting it again in ${(phaseMs(this.#state) ?? 0) / 1000} s`);
  }

  #end(): void {
    this.#supervision.log.close();
    this.#ended.resolve();
  }
}
