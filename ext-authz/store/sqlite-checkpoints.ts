import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/**
 * Moves what was written from the log of a SQLite file to the file and waits for the disk, once a
 * second, in a thread of its own. SQLite would do it within a write, and delay every request by
 * some milliseconds. See https://sqlite.org/wal.html#ckpt
 */
export class SqliteCheckpoints {
  readonly #worker: Worker;
  readonly #ended: Promise<unknown>;

  constructor(file: string) {
    this.#worker = new Worker(new URL('./sqlite-checkpointer.ts', import.meta.url), {
      workerData: file,
    });
    // The log is moved all the same when it is large. See sqlite-schema.ts.
    this.#worker.on('error', () => {});
    this.#worker.unref();
    this.#ended = once(this.#worker, 'exit').catch(() => {});
  }

  /** Resolves when the thread has let go of the file. */
  async stop(): Promise<void> {
    this.#worker.ref();
    this.#worker.postMessage('stop');
    await this.#ended;
  }
}
