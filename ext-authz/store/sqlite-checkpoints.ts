import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

const EVERY_MS = 1000;

/**
 * Moves what was written from the log of a SQLite file to the file and waits for the disk, once a
 * second, in a thread of its own. SQLite would do it within a write, and delay every request by
 * some milliseconds. See https://sqlite.org/wal.html#ckpt
 */
export class SqliteCheckpoints {
  /** The thread costs more than a store that is closed within its first second. */
  readonly #start: NodeJS.Timeout;
  #worker: Worker | undefined;

  constructor(file: string) {
    this.#start = setTimeout(() => this.#run(file), EVERY_MS);
    this.#start.unref();
  }

  #run(file: string): void {
    this.#worker = new Worker(
      new URL(import.meta.resolve('#ext-authz/store/sqlite-checkpointer.ts')),
      {
        workerData: { file, everyMs: EVERY_MS },
      },
    );
    // The log is moved all the same when it is large. See sqlite-schema.ts.
    this.#worker.on('error', () => {});
    this.#worker.on('exit', () => {
      this.#worker = undefined;
    });
    this.#worker.unref();
  }

  /** Resolves when the thread has let go of the file. */
  async stop(): Promise<void> {
    clearTimeout(this.#start);
    if (this.#worker === undefined) return;
    this.#worker.ref();
    this.#worker.postMessage('stop');
    await once(this.#worker, 'exit').catch(() => {});
  }
}
