import type { ChildProcess } from 'node:child_process';
import type { Phase } from '#process/child.ts';
import { ChildLife } from '#process/child-life.ts';
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

/**
 * A running part. When it ends by itself it is started again after a growing pause, until it is
 * stopped.
 */
export class SupervisedChild {
  readonly part: Part;
  readonly #supervision: Supervision;
  readonly #ended = Promise.withResolvers<void>();
  readonly #isNews: (problem: string) => boolean;
  readonly #life: ChildLife;
  #process: ChildProcess | undefined;
  #starts = 0;

  constructor(part: Part, supervision: Supervision) {
    this.part = part;
    this.#supervision = supervision;
    this.#isNews = repeatFilter(supervision.now);
    this.#life = new ChildLife({
      spawn: () => this.#spawn(),
      signal: signal => this.#process?.kill(signal),
      changed: () => this.#changed(),
    });
    this.#life.begin();
  }

  get phase(): Phase {
    return this.#life.phase;
  }

  /** Tells whether it answers, as far as is known. */
  get isReady(): boolean {
    return this.phase === 'ready' || this.phase === 'running';
  }

  get pid(): number | undefined {
    return this.#life.isAlive ? this.#process?.pid : undefined;
  }

  /** Returns how often it was started again. */
  get restarts(): number {
    return this.#starts - 1;
  }

  /** From here on it is not started again when it ends. */
  drain(): void {
    this.#life.happen('drain');
  }

  /** Sends SIGTERM, and SIGKILL when that is not enough. Resolves when it has ended. */
  stop(): Promise<void> {
    this.#life.happen('stop');
    return this.#ended.promise;
  }

  /** Sends SIGKILL. Resolves when it has ended. */
  kill(): Promise<void> {
    this.#life.happen('kill');
    return this.#ended.promise;
  }

  #spawn(): void {
    this.#starts += 1;
    const { guard, log } = this.#supervision;
    this.#process = runPart(this.part, {
      guard,
      log,
      problem: text => this.#tell(text),
      notice: text => this.#supervision.say(text),
      ready: () => this.#life.happen('ready'),
      ended: (how, runnable) => this.#over(how, runnable),
    });
  }

  #tell(problem: string): void {
    // An Envoy logs a warning when it is being stopped.
    if (this.phase !== 'stopping' && this.#isNews(problem)) this.#supervision.say(problem);
  }

  #over(how: string, runnable: boolean): void {
    this.#life.happen(runnable ? 'exited' : 'unspawnable');
    if (this.phase === 'failed') this.#supervision.say(how);
    if (this.phase !== 'backoff') return;
    this.#supervision.say(`${how}, starting it again in ${(this.#life.phaseMs ?? 0) / 1000} s`);
  }

  #changed(): void {
    if (this.phase === 'stopped' || this.phase === 'failed') this.#end();
    this.#supervision.changed(this);
  }

  #end(): void {
    this.#supervision.log.close();
    this.#ended.resolve();
  }
}
