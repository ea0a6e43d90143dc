import { setImmediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { DiffBasis, DiffQuestion } from '#controlplane/diff/diff-request.ts';
import type { Difference } from '#controlplane/diff/difference.ts';
import type { ExplainQuestion } from '#controlplane/explain/explain-request.ts';
import type { Explanation } from '#controlplane/explain/explanation.ts';
import type { After } from '#process/after.ts';
import { ThreadEnded, WorkerThread } from '#process/worker-thread.ts';
import { type PackedFile, packFile } from '#resources/parse/packed-file.ts';
import type { ParseOptions } from '#resources/parse/parse-options.ts';
import { EMPTY_FILE } from '#resources/parse/parsed-file.ts';

/**
 * Questions about all that is in force. Each throws an Error about the question, and ThreadEnded
 * when it cannot be answered. It is undefined when too many questions wait.
 */
export type Questions = {
  /** Returns what the documents of a question would change. */
  diff(question: DiffQuestion): Promise<Difference> | undefined;
  /** Returns what happens to a request. */
  explain(question: ExplainQuestion): Promise<Explanation> | undefined;
  close(): void;
};

export type QuestionsParts = {
  readonly options: ParseOptions;
  /** Read when a question's turn has come. */
  basis(): DiffBasis;
  /** Called when the thread has ended by itself, with the cause. */
  failed(cause: unknown): void;
  readonly after: After;
  /** Memory of the thread, in MiB, where it is less than the default. */
  readonly memoryMib?: number;
};

export type Question = { readonly diff: DiffQuestion } | { readonly explain: ExplainQuestion };

/** A question on its way to the thread. What is in force is packed in parts. */
export type AskedQuestion = Omit<DiffBasis, 'inForce'> & {
  readonly question: Question;
  readonly inForce: readonly PackedFile[];
};

export type Answer =
  /** A Difference, or an Explanation. */
  | { readonly json: string }
  /** What is wrong with the question. */
  | { readonly error: string };

/** An answer about very many resources takes seconds, and much memory. */
export const MOST_WAITING = 8;
const LONGEST_SECONDS = 60;
/** Resources that are packed without a pause, in which the proxies get their answers. */
const PACKED_AT_ONCE = 100;

/** Answers one question after the other in a thread, since each may take much memory. */
export function questions({ options, basis, ...parts }: QuestionsParts): Questions {
  const { apiGroups, gatewayId } = options;
  const thread = new WorkerThread<AskedQuestion, Answer>({
    ...parts,
    longestSeconds: LONGEST_SECONDS,
    start: resourceLimits =>
      new Worker(new URL(import.meta.resolve('#controlplane/question-worker.ts')), {
        name: 'questions',
        workerData: { apiGroups, gatewayId } satisfies ParseOptions,
        resourceLimits,
      }),
  });
  let waiting = 0;
  let last: Promise<unknown> = Promise.resolve();
  const answer = async (question: Question): Promise<unknown> => {
    const { inForce, ...more } = basis();
    const asked = { ...more, question, inForce: await pack(inForce) };
    const answered = await thread.ask(asked).catch(ended => told(ended, question));
    if ('error' in answered) throw new Error(answered.error);
    return JSON.parse(answered.json);
  };
  const ask = (question: Question): Promise<unknown> | undefined => {
    if (waiting >= MOST_WAITING) return undefined;
    waiting += 1;
    const answered = last
      .then(() => answer(question))
      .finally(() => {
        waiting -= 1;
      });
    last = answered.catch(() => {});
    return answered;
  };
  return {
    diff: question => ask({ diff: question }) as Promise<Difference> | undefined,
    explain: question => ask({ explain: question }) as Promise<Explanation> | undefined,
    close: () => thread.close(),
  };
}

function told({ by }: ThreadEnded, question: Question): never {
  const isDiff = 'diff' in question;
  const what = isDiff ? 'the comparison' : 'the explanation';
  const remedy = isDiff ? '. Ask about fewer documents' : '';
  const reasons: Readonly<Record<ThreadEnded['by'], string>> = {
    failure: `${what} failed. The log of the control plane says why`,
    memory: `${what} takes too much memory${remedy}`,
    time: `${what} takes longer than ${LONGEST_SECONDS} s${remedy}`,
  };
  throw new ThreadEnded(by, reasons[by]);
}

async function pack({ resources, closed }: DiffBasis['inForce']): Promise<readonly PackedFile[]> {
  const packed = [packFile({ ...EMPTY_FILE, rejected: closed })];
  const all = [...resources.values()];
  for (let from = 0; from < all.length; from += PACKED_AT_ONCE) {
    const some = all.slice(from, from + PACKED_AT_ONCE);
    packed.push(packFile({ ...EMPTY_FILE, resources: some }));
    await setImmediate();
  }
  return packed;
}
