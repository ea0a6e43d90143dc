import { getHeapStatistics } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { type PackedFile, unpackFile } from './packed-file.ts';
import type { ParsedTexts } from './parse.ts';
import { unreadableDocument } from './parse-document.ts';
import type { ParseOptions } from './parse-options.ts';
import type { ParsedFile } from './parsed-file.ts';

export type ThreadParts = {
  readonly options: ParseOptions;
  /** The thread has ended by itself, and this was the cause. */
  failed(cause: unknown): void;
  after(ms: number, callback: () => void): () => void;
  /** How much it may have, in MiB, where that is less than it would have. */
  readonly memoryMib?: number;
};

/**
 * Of the thread's memory, in MiB; never more than the process itself may have. A document takes
 * about 100 times its length.
 */
const MOST_MEMORY = 1024;
/**
 * As deep as the main thread of a process: what is nested too deeply for one is so for the other.
 */
const STACK_MIB = 1;
/**
 * So many characters of small documents go together, since each message takes its time. A larger
 * document goes alone: what it does to the thread is said of it.
 */
const TOGETHER = 16 * 1024;
/** Documents that go together are parsed for so long at most, in ticks of… */
const LONGEST_TICKS = 120;
/**
 * …so many ms. Of a process that was held meanwhile, as by a laptop that slept, one tick is
 * counted.
 */
const TICK_MS = 1_000;
/**
 * After so long without a document the thread ends, in ms: edits come one after another, and the
 * next finds it warm.
 */
const IDLE_MS = 60_000;

const SPLIT_IT = 'split it into several';

type Asked = {
  readonly texts: readonly string[];
  readonly answer: (parsed: readonly ParsedFile[]) => void;
};

/**
 * Parses texts of documents in a thread of its own, for large ones would keep everything else
 * waiting for seconds. The thread is started when it is wanted, and again after it has ended. A
 * document that ends it, or takes two minutes, is unreadable: a Problem.
 */
export class ParseThread {
  readonly #parts: ThreadParts;
  #worker: Worker | undefined;
  #asked: Asked | undefined;
  #cancelClock = () => {};
  #cancelIdle = () => {};

  constructor(parts: ThreadParts) {
    this.#parts = parts;
  }

  /**
   * What each of these texts gives, as parseDocument says. One call at a time. Never rejects; does
   * not resolve when it is closed meanwhile.
   */
  async parse(texts: Iterable<string>): Promise<ParsedTexts> {
    this.#cancelIdle();
    const parsed = new Map<string, ParsedFile>();
    for (const batch of toBatches(texts)) {
      for (const [index, file] of (await this.#ask(batch)).entries())
        parsed.set(batch[index] ?? '', file);
    }
    this.#cancelIdle = this.#parts.after(IDLE_MS, () => this.#end());
    return parsed;
  }

  close(): void {
    this.#cancelIdle();
    this.#cancelClock();
    this.#asked = undefined;
    this.#end();
  }

  async #ask(texts: readonly string[]): Promise<readonly ParsedFile[]> {
    const { promise, resolve } = Promise.withResolvers<readonly ParsedFile[]>();
    this.#asked = { texts, answer: resolve };
    try {
      this.#worker ??= this.#start();
      this.#worker.postMessage(texts);
      this.#startClock();
    } catch (error) {
      // There are no more threads, for example.
      this.#parts.failed(error);
      this.#fail(reasonOf(error));
    }
    return promise.finally(() => {
      this.#cancelClock();
      this.#asked = undefined;
    });
  }

  #start(): Worker {
    const worker = startWorker(this.#parts);
    let cause: unknown;
    worker.on('message', (packed: readonly PackedFile[]) => {
      // What a thread that was given up has said still comes, and answers nothing that was asked
      // since.
      if (this.#worker === worker) this.#asked?.answer(packed.map(unpackFile));
    });
    worker.on('error', error => {
      cause = error;
    });
    worker.on('exit', code => {
      if (this.#worker !== worker) return;
      this.#worker = undefined;
      this.#parts.failed(cause ?? new Error(`it exited with ${code}`));
      this.#fail(reasonOf(cause));
    });
    return worker;
  }

  #fail(reason: string): void {
    this.#asked?.answer(this.#asked.texts.map(() => unreadableDocument(reason)));
  }

  #end(): void {
    void this.#worker?.terminate();
    this.#worker = undefined;
  }

  #startClock(ticks = LONGEST_TICKS): void {
    if (ticks > 0) {
      this.#cancelClock = this.#parts.after(TICK_MS, () => this.#startClock(ticks - 1));
      return;
    }
    this.#end();
    this.#fail(`it takes longer than ${(LONGEST_TICKS * TICK_MS) / 1000} s to parse; ${SPLIT_IT}`);
  }
}

function startWorker({ options, memoryMib = MOST_MEMORY }: ThreadParts): Worker {
  const heap = Math.floor(getHeapStatistics().heap_size_limit / 2 ** 20);
  return new Worker(new URL('./parse-worker.ts', import.meta.url), {
    name: 'parse',
    workerData: {
      apiGroups: options.apiGroups,
      gatewayId: options.gatewayId,
    } satisfies ParseOptions,
    resourceLimits: { maxOldGenerationSizeMb: Math.min(memoryMib, heap), stackSizeMb: STACK_MIB },
  });
}

function* toBatches(texts: Iterable<string>): Iterable<readonly string[]> {
  let batch: string[] = [];
  let length = 0;
  for (const text of texts) {
    if (batch.length > 0 && length + text.length > TOGETHER) {
      yield batch;
      [batch, length] = [[], 0];
    }
    batch.push(text);
    length += text.length;
  }
  if (batch.length > 0) yield batch;
}

/** A thread's own error may quote the text. */
function reasonOf(cause: unknown): string {
  const tooLarge =
    cause instanceof Error && 'code' in cause && cause.code === 'ERR_WORKER_OUT_OF_MEMORY';
  return tooLarge
    ? `it takes too much memory to parse; ${SPLIT_IT}`
    : 'its parsing failed; the log says why';
}
