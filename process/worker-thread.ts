import { getHeapStatistics } from 'node:v8';
import type { ResourceLimits, Worker } from 'node:worker_threads';
import type { After } from './after.ts';

export type WorkerThreadParts = {
  /** Starts the thread, which answers each message by one. */
  start(resourceLimits: ResourceLimits): Worker;
  /** Called when the thread has ended by itself, with the cause. */
  failed(cause: unknown): void;
  readonly after: After;
  /** The longest time for an answer, in seconds. */
  readonly longestSeconds: number;
  /** Memory of the thread, in MiB, where it is less than the default. */
  readonly memoryMib?: number | undefined;
};

/** The thread's memory, in MiB. It is never more than the process itself may have. */
const MOST_MEMORY = 1024;
/**
 * As deep as the main thread of a process, so that nesting too deep for one is too deep for the
 * other.
 */
const STACK_MIB = 1;
/** A pause of the process, such as the sleep of a laptop, counts as one tick of this many ms. */
const TICK_MS = 1_000;
/**
 * The thread ends after this long without a question, in ms. Questions come one after another, and
 * the next one finds it warm.
 */
const IDLE_MS = 60_000;

/** A thread has ended before it answered. */
export class ThreadEnded extends Error {
  readonly by: 'failure' | 'memory' | 'time';

  constructor(by: ThreadEnded['by'], message = `a thread was ended by ${by}`) {
    super(message);
    this.by = by;
  }
}

type Asked<Answer> = { answer(answer: Answer): void; fail(ended: ThreadEnded): void };

/**
 * Does long work in its own thread, because it would block everything else. The thread is started
 * when it is needed, and again after it has ended.
 */
export class WorkerThread<Question, Answer> {
  readonly #parts: WorkerThreadParts;
  #worker: Worker | undefined;
  #asked: Asked<Answer> | undefined;
  #cancelClock = () => {};
  #cancelIdle = () => {};

  constructor(parts: WorkerThreadParts) {
    this.#parts = parts;
  }

  /**
   * Returns what the thread answers. One call at a time. Rejects with ThreadEnded alone. It does
   * not resolve when the thread is closed meanwhile.
   */
  ask(question: Question): Promise<Answer> {
    this.#cancelIdle();
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    this.#asked = { answer: resolve, fail: reject };
    try {
      this.#worker ??= this.#start();
      this.#worker.postMessage(question);
      this.#startClock();
    } catch (error) {
      // There are no more threads, for example.
      this.#parts.failed(error);
      reject(endedBy(error));
    }
    return promise.finally(() => {
      this.#cancelClock();
      this.#asked = undefined;
      this.#cancelIdle = this.#parts.after(IDLE_MS, () => this.#end());
    });
  }

  close(): void {
    this.#cancelIdle();
    this.#cancelClock();
    this.#asked = undefined;
    this.#end();
  }

  #start(): Worker {
    const worker = this.#parts.start(limitsOf(this.#parts));
    let cause: unknown;
    worker.on('message', (answer: Answer) => {
      // Answers of a stopped thread still arrive. They must not answer later questions.
      if (this.#worker === worker) this.#asked?.answer(answer);
    });
    worker.on('error', error => {
      cause = error;
    });
    worker.on('exit', code => {
      if (this.#worker !== worker) return;
      this.#worker = undefined;
      this.#parts.failed(cause ?? new Error(`it exited with ${code}`));
      this.#asked?.fail(endedBy(cause));
    });
    return worker;
  }

  #end(): void {
    void this.#worker?.terminate();
    this.#worker = undefined;
  }

  #startClock(seconds = this.#parts.longestSeconds): void {
    if (seconds > 0) {
      this.#cancelClock = this.#parts.after(TICK_MS, () => this.#startClock(seconds - 1));
      return;
    }
    this.#end();
    this.#asked?.fail(new ThreadEnded('time'));
  }
}

function limitsOf({ memoryMib = MOST_MEMORY }: WorkerThreadParts): ResourceLimits {
  const heap = Math.floor(getHeapStatistics().heap_size_limit / 2 ** 20);
  return { maxOldGenerationSizeMb: Math.min(memoryMib, heap), stackSizeMb: STACK_MIB };
}

function endedBy(cause: unknown): ThreadEnded {
  const tooLarge =
    cause instanceof Error && 'code' in cause && cause.code === 'ERR_WORKER_OUT_OF_MEMORY';
  return new ThreadEnded(tooLarge ? 'memory' : 'failure');
}
