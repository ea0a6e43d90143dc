import cluster, { type Worker } from 'node:cluster';
import { isJsonObject, type JsonObject } from '#protos/json.ts';
import { Calls } from './calls.ts';
import { ChildLife } from './child-life.ts';
import type { Give } from './shared-ports.ts';

/** What looks after a worker. */
export type WorkerKeeper = {
  /**
   * Is told that a process of the worker begins, and answers what it asks. Returns what is to be
   * done when that process has ended.
   */
  begun(worker: SupervisedWorker, calls: Calls, give: Give): () => void;
  /** Is told that the worker listens, is ready, or has come to its end. */
  changed(worker: SupervisedWorker): void;
  /**
   * Is told that the worker's process has ended by itself, or could not be started. `how` is its
   * exit code, or a signal or an error in words. `againInMs` is how soon the next one is started.
   */
  ended(worker: SupervisedWorker, how: number | string, againInMs: number): void;
};

/**
 * Workers end within a second. The process that started the leader may wait for as long as three.
 */
const STOP_MS = 2_000;

const BEAT_MS = 1_000;

/**
 * A worker that answers nothing for so many beats hangs, and is killed. A large change keeps one
 * busy for less, also on a slow machine. Beats are counted, because this process may stand still
 * itself.
 */
const MOST_MISSED = 30;

/**
 * A process of this program that answers with others on the same port. Whenever it ends by itself
 * it is started again after a growing pause, until it is stopped.
 */
export class SupervisedWorker {
  readonly number: number;
  readonly #keeper: WorkerKeeper;
  readonly #life: ChildLife;
  #process: Worker | undefined;
  #calls: Calls | undefined;
  #listening: JsonObject | undefined;
  #ready = false;

  constructor(number: number, keeper: WorkerKeeper) {
    this.number = number;
    this.#keeper = keeper;
    const led = {
      spawn: () => this.#spawn(),
      signal: (signal: NodeJS.Signals) => this.#process?.process.kill(signal),
      changed: () => {
        if (this.isOver) keeper.changed(this);
      },
    };
    this.#life = new ChildLife(led, STOP_MS);
    this.#life.begin();
  }

  /**
   * Returns where it listens.
   * @returns undefined when it does not listen yet
   */
  get listening(): JsonObject | undefined {
    return this.#listening;
  }

  get isReady(): boolean {
    return this.#ready;
  }

  /** Returns whether it was told to end, and has ended. */
  get isOver(): boolean {
    return this.#life.phase === 'stopped';
  }

  /** Present for as long as it listens. */
  get calls(): Calls | undefined {
    return this.#listening && this.#calls;
  }

  /** Sends SIGTERM, and SIGKILL when that is not enough. */
  stop(): void {
    this.#life.happen('stop');
  }

  #spawn(): void {
    const worker = this.#fork();
    if (worker === undefined) return;
    const calls = new Calls({
      send: message => worker.isConnected() && worker.send(message, () => {}),
      on: (event, hear) => worker.on(event, hear),
    });
    [this.#process, this.#calls] = [worker, calls];
    const give: Give = (port, socket) => {
      const cut = (error: Error | null) => void (error === null || socket.destroy());
      // The socket stays open here until the worker has taken it. Node forgets one that it could
      // not send.
      if (worker.isConnected()) worker.send({ connection: port }, socket, { keepOpen: true }, cut);
      else socket.destroy();
    };
    const over = this.#keeper.begun(this, calls, give);
    worker.on('message', message => this.#hear(message));
    const endBeats = this.#watchBeats(worker, calls);
    const end = (how: number | string) => {
      const isHung = endBeats();
      calls.close();
      [this.#listening, this.#ready] = [undefined, false];
      over();
      this.#over(isHung ? `${how}, since it answered nothing` : how);
    };
    worker.once('exit', (code, signal) => end(signal ?? code));
    // One that was never started has no exit.
    worker.on('error', error => {
      if (worker.process.pid === undefined) end(inWords(error));
    });
  }

  /**
   * The system may have no process or no memory left for the moment. Node throws some of its
   * errors, and emits others.
   */
  #fork(): Worker | undefined {
    try {
      return cluster.fork();
    } catch (error) {
      process.nextTick(() => this.#over(inWords(error)));
      return undefined;
    }
  }

  /**
   * Counts beats from when it listens. Until then it may wait for others.
   * @returns a function that ends this, and says whether the worker was killed
   */
  #watchBeats(worker: Worker, calls: Calls): () => boolean {
    let missed = 0;
    const timer = setInterval(() => {
      if (this.#listening === undefined) return;
      missed += 1;
      calls.ask('beat').then(
        () => {
          missed = 0;
        },
        () => {},
      );
      if (missed > MOST_MISSED) worker.process.kill('SIGKILL');
    }, BEAT_MS);
    return () => {
      clearInterval(timer);
      return missed > MOST_MISSED;
    };
  }

  #hear(message: unknown): void {
    if (!isJsonObject(message)) return;
    if (message.listening === true) this.#listening = message;
    else if (message.ready === true) this.#ready = true;
    else return;
    if (this.#ready) this.#life.happen('ready');
    this.#keeper.changed(this);
  }

  #over(how: number | string): void {
    this.#life.happen('exited');
    if (this.#life.phase === 'backoff') this.#keeper.ended(this, how, this.#life.phaseMs ?? 0);
  }
}

function inWords(error: unknown): string {
  return `an error: ${error instanceof Error ? error.message : error}`;
}
