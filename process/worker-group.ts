import { within } from '#grpc/within.ts';
import type { Calls } from './calls.ts';
import { type Give, SharedPorts } from './shared-ports.ts';
import { type MetricValues, SummedMetrics } from './summed-metrics.ts';
import { SupervisedWorker, type WorkerKeeper } from './supervised-worker.ts';

export type GroupOptions = {
  /** At least two. */
  readonly count: number;
  /**
   * Keeps for all workers what each of them asks for, besides metrics and readiness. Returns what
   * is to be done when that worker has ended.
   */
  readonly share: (calls: Calls) => () => void;
  readonly log: {
    info(fields: object, message: string): void;
    error(fields: object, message: string): void;
  };
  /** Tells the process that started this one. */
  tell(message: object): void;
  /**
   * Is called when the group cannot go on. The first worker ended before any listened, with this
   * code or by a signal.
   */
  failed(how: number | string): void;
  /** Is called when all workers have ended after they were stopped. */
  stopped(): void;
};

/** A worker that does not answer within this time, in ms, is shown as it was before. */
const ANSWER_MS = 1_000;

/**
 * Workers that answer behind one port. The first one starts alone, and the others when it listens.
 * An obstacle that would stop all of them is then reported once, and one worker makes the files.
 */
export class WorkerGroup implements WorkerKeeper {
  readonly #options: GroupOptions;
  readonly #workers: SupervisedWorker[] = [];
  readonly #metrics = new SummedMetrics();
  readonly #ports = new SharedPorts();
  #listened = false;
  #ready = false;
  #stopping = false;

  constructor(options: GroupOptions) {
    this.#options = options;
    this.#start(1);
  }

  /** Sends SIGTERM to all, and kills those that do not end by that. */
  stop(): void {
    this.#stopping = true;
    for (const worker of this.#workers) worker.stop();
  }

  begun(worker: SupervisedWorker, calls: Calls, give: Give): () => void {
    const isLate = () => this.#workers.some(other => other !== worker && other.isReady);
    calls.answer('join', () => ({ number: worker.number, late: isLate() }));
    calls.answer('notReady', () => this.#notReady());
    calls.answer('metrics', () => this.#sum());
    const endings = [this.#ports.serve(calls, give), this.#options.share(calls)];
    return () => {
      this.#metrics.end(worker.number);
      for (const end of endings) end();
    };
  }

  changed(worker: SupervisedWorker): void {
    const workers = this.#workers;
    if (this.#stopping) {
      if (workers.every(({ isOver }) => isOver)) this.#options.stopped();
      return;
    }
    if (worker.listening !== undefined)
      for (let next = workers.length + 1; next <= this.#options.count; next += 1) this.#start(next);
    if (!this.#listened && workers.every(({ listening }) => listening)) this.#allListen();
    if (!this.#ready && this.#listened && workers.every(({ isReady }) => isReady)) {
      this.#ready = true;
      this.#options.tell({ ready: true });
    }
  }

  ended({ number }: SupervisedWorker, how: number | string, againInMs: number): void {
    if (this.#workers.length === 1) {
      this.#options.failed(how);
      return;
    }
    const by = typeof how === 'number' ? { code: how } : { signal: how };
    this.#options.log.error(
      { worker: number, ...by, againInMs },
      'a worker ended, another is started',
    );
  }

  #start(number: number): void {
    this.#workers.push(new SupervisedWorker(number, this));
  }

  #allListen(): void {
    this.#listened = true;
    const { listening } = this.#workers[0] ?? {};
    const { address, port } = listening ?? {};
    this.#options.log.info({ address, port, workers: this.#workers.length }, 'all workers listen');
    this.#options.tell({ listening: true, address, port });
  }

  /** Once all have been ready, one is enough. A worker that is not ready gets no connections. */
  #notReady(): string | undefined {
    const ready = this.#workers.filter(({ isReady }) => isReady).length;
    if (ready > 0 && this.#ready) return undefined;
    return `${ready} of ${this.#options.count} workers are ready`;
  }

  async #sum(): Promise<string> {
    const asked = this.#workers.map(async ({ calls, number }) => {
      const values = await calls?.ask('values');
      if (values !== undefined) this.#metrics.hear(number, values as MetricValues);
    });
    await within(ANSWER_MS, Promise.allSettled(asked));
    return this.#metrics.text();
  }
}
