import { Worker } from 'node:worker_threads';
import type { After } from '#process/after.ts';
import { ThreadEnded, WorkerThread } from '#process/worker-thread.ts';
import { type PackedFile, unpackFile } from './packed-file.ts';
import type { ParsedTexts } from './parse.ts';
import type { ParseOptions } from './parse-options.ts';
import { type ParsedFile, unreadableDocument } from './parsed-file.ts';

export type ThreadParts = {
  readonly options: ParseOptions;
  /** Called when the thread has ended by itself, with the cause. */
  failed(cause: unknown): void;
  readonly after: After;
  /** Memory of the thread, in MiB. A document takes about 100 times its length. Default: 1024. */
  readonly memoryMib?: number;
};

/**
 * Small documents of this many characters go together, since each message takes time. A larger
 * document goes alone, so that a failure can be attributed to it.
 */
const TOGETHER = 16 * 1024;
/** The longest time to parse documents that go together. */
const LONGEST_SECONDS = 120;

const SPLIT_IT = 'Split it into several';
/** A thread's own error may quote the text. */
const REASONS: Readonly<Record<ThreadEnded['by'], string>> = {
  failure: 'its parsing failed. The log says why',
  memory: `it takes too much memory to parse. ${SPLIT_IT}`,
  time: `it takes longer than ${LONGEST_SECONDS} s to parse. ${SPLIT_IT}`,
};

/**
 * Parses texts of documents in its own thread, because large ones would block everything else for
 * seconds. A document that ends it, or takes two minutes, is unreadable, which is a Problem.
 */
export class ParseThread {
  readonly #thread: WorkerThread<readonly string[], readonly PackedFile[]>;

  constructor({ options, ...parts }: ThreadParts) {
    const { apiGroups, gatewayId } = options;
    this.#thread = new WorkerThread({
      ...parts,
      longestSeconds: LONGEST_SECONDS,
      start: resourceLimits =>
        new Worker(new URL(import.meta.resolve('#resources/parse/parse-worker.ts')), {
          name: 'parse',
          workerData: { apiGroups, gatewayId } satisfies ParseOptions,
          resourceLimits,
        }),
    });
  }

  /**
   * Returns the result of parseDocument for each of these texts. One call at a time. Never rejects.
   * It does not resolve when the thread is closed meanwhile.
   */
  async parse(texts: Iterable<string>): Promise<ParsedTexts> {
    const parsed = new Map<string, ParsedFile>();
    for (const batch of toBatches(texts)) {
      for (const [index, file] of (await this.#ask(batch)).entries())
        parsed.set(batch[index] ?? '', file);
    }
    return parsed;
  }

  close(): void {
    this.#thread.close();
  }

  async #ask(texts: readonly string[]): Promise<readonly ParsedFile[]> {
    try {
      return (await this.#thread.ask(texts)).map(unpackFile);
    } catch (error) {
      if (!(error instanceof ThreadEnded)) throw error;
      return texts.map(() => unreadableDocument(REASONS[error.by]));
    }
  }
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
