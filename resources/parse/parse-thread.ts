import { getHeapStatistics } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { type PackedFile, unpackFile } from './packed-file.ts';
import type { ParsedTexts } from './parse.ts';
import type { ParseOptions } from './parse-options.ts';
import { type ParsedFile, unreadableDocument } from './parsed-file.ts';

export type ThreadParts = {
  readonly options: ParseOptions;
  /** Called when the thread has ended by itself, with the cause. */
  failed(cause: unknown): void;
  after(ms: number, callback: () => void): () => void;
  /** Memory of the thread, in MiB, where it is less than the default. */
  readonly memoryMib?: number;
};

/**
 * The thread's memory, in MiB. It is never more than the process itself may have. A document takes
 * about 100 times its length.
 */
const MOST_MEMORY = 1024;
/**
 * As deep as the main thread of a process, so that nesting too deep for one is too deep for the
 * other.
 */
const STACK_MIB = 1;
/**
 * Small documents of this many characters go together, since each message takes time. A larger
 * document goes alone, so that a failure can be attributed to it.
 */
const TOGETHER = 16 * 1024;
/** The longest time to parse documents that go together, in ticks of… */
const LONGEST_TICKS = 120;
/** …this many ms. A pause of the process, such as the sleep of a laptop, counts as one tick. */
const TICK_MS = 1_000;
/**
 * The thread ends after this long without a document, in ms. Edits come one after another, and the
 * next one finds it warm.
 */
const IDLE_MS = 60_000;

const SPLIT_IT = 'Split it into several';

type Asked = {
  readonly texts: readonly string[];
  readonly answer: (parsed: readonly ParsedFile[]) => void;
};

/**
 * Parses texts of documents in its own thread, because large ones would block everything else for
 * seconds. The thread is started when it is needed, and again after it has ended. A document that
 * ends it, or takes two minutes, is unreadable, which is a Problem.
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
   * Returns the result of parseDocument for each of these texts. One call at a time. Never rejects.
   * It does not resolve when the thread is closed meanwhile.
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
      // Answers of a stopped thread still arrive. They must not answer later questions.
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
    this.#fail(`it takes longer than ${(LONGEST_TICKS * TICK_MS) / 1000} s to parse. ${SPLIT_IT}`);
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
    ? `it takes too much memory to parse. ${SPLIT_IT}`
    : 'its parsing failed. The log says why';
}
