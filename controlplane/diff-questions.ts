import { setImmediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { DiffBasis, DiffQuestion } from '#controlplane/diff/diff-request.ts';
import type { Difference } from '#controlplane/diff/difference.ts';
import type { After } from '#process/after.ts';
import { ThreadEnded, WorkerThread } from '#process/worker-thread.ts';
import { type PackedFile, packFile } from '#resources/parse/packed-file.ts';
import type { ParseOptions } from '#resources/parse/parse-options.ts';
import { EMPTY_FILE } from '#resources/parse/parsed-file.ts';

export type DiffQuestions = {
  /**
   * Returns what the documents of a question would change. Throws an Error about the question, and
   * ThreadEnded when it cannot be answered.
   * @returns undefined when too many questions wait
   */
  ask(question: DiffQuestion): Promise<Difference> | undefined;
  close(): void;
};

export type DiffQuestionsParts = {
  readonly options: ParseOptions;
  /** Read when a question's turn has come. */
  basis(): DiffBasis;
  /** Called when the thread has ended by itself, with the cause. */
  failed(cause: unknown): void;
  readonly after: After;
  /** Memory of the thread, in MiB, where it is less than the default. */
  readonly memoryMib?: number;
};

/** A question on its way to the thread. What is in force is packed in parts. */
export type AskedDiff = Omit<DiffBasis, 'inForce'> & {
  readonly question: DiffQuestion;
  readonly inForce: readonly PackedFile[];
};

export type DiffAnswer =
  /** A Difference. */
  | { readonly json: string }
  /** What is wrong with the question. */
  | { readonly error: string };

/** An answer about very many resources takes seconds, and much memory. */
const MOST_WAITING = 4;
const LONGEST_SECONDS = 60;
/** Resources that are packed without a pause, in which the proxies get their answers. */
const PACKED_AT_ONCE = 100;

const FEWER = 'Ask about fewer documents';
const REASONS: Readonly<Record<ThreadEnded['by'], string>> = {
  failure: 'the comparison failed. The log of the control plane says why',
  memory: `the comparison takes too much memory. ${FEWER}`,
  time: `the comparison takes longer than ${LONGEST_SECONDS} s. ${FEWER}`,
};

/** Answers one question after the other in a thread, since each may take much memory. */
export function diffQuestions({ options, basis, ...parts }: DiffQuestionsParts): DiffQuestions {
  const { apiGroups, gatewayId } = options;
  const thread = new WorkerThread<AskedDiff, DiffAnswer>({
    ...parts,
    longestSeconds: LONGEST_SECONDS,
    start: resourceLimits =>
      new Worker(new URL('./diff-worker.ts', import.meta.url), {
        name: 'diff',
        workerData: { apiGroups, gatewayId } satisfies ParseOptions,
        resourceLimits,
      }),
  });
  let waiting = 0;
  let last: Promise<unknown> = Promise.resolve();
  const answer = async (question: DiffQuestion): Promise<Difference> => {
    const { inForce, ...more } = basis();
    const asked = { ...more, question, inForce: await pack(inForce) };
    const answered = await thread.ask(asked).catch(told);
    if ('error' in answered) throw new Error(answered.error);
    return JSON.parse(answered.json) as Difference;
  };
  return {
    ask: question => {
      if (waiting >= MOST_WAITING) return undefined;
      waiting += 1;
      const answered = last
        .then(() => answer(question))
        .finally(() => {
          waiting -= 1;
        });
      last = answered.catch(() => {});
      return answered;
    },
    close: () => thread.close(),
  };
}

function told({ by }: ThreadEnded): never {
  throw new ThreadEnded(by, REASONS[by]);
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
