import { type DiffBasis, type DiffQuestion, diffRequest } from '#controlplane/diff/diff-request.ts';
import type { Difference } from '#controlplane/diff/difference.ts';
import type { FileContent } from '#resources/folder/file-content.ts';
import type { Parser } from '#resources/parse/parse.ts';
import { ParseThread } from '#resources/parse/parse-thread.ts';
import type { ParsedFile } from '#resources/parse/parsed-file.ts';

export type DiffQuestions = {
  /**
   * Returns what the documents of a question would change. Throws an Error about the question.
   * @returns undefined when too many questions wait
   */
  ask(question: DiffQuestion): Promise<Difference> | undefined;
  close(): void;
};

/** An answer about very many resources takes seconds, in which nothing else happens. */
const MOST_WAITING = 4;

/** Answers one question after the other, since each may take much memory. */
export function diffQuestions(
  parser: Parser,
  basis: () => DiffBasis,
  after: (ms: number, callback: () => void) => () => void,
): DiffQuestions {
  const thread = new ParseThread({ options: parser.options, failed: () => {}, after });
  let waiting = 0;
  let last: Promise<unknown> = Promise.resolve();
  const parse = async (files: ReadonlyMap<string, FileContent>): Promise<readonly ParsedFile[]> => {
    const round = parser.fresh().begin(files);
    return round.finish(await thread.parse(round.unseen));
  };
  const answer = (question: DiffQuestion) =>
    diffRequest(question, parse, basis).finally(() => {
      waiting -= 1;
    });
  return {
    ask: question => {
      if (waiting >= MOST_WAITING) return undefined;
      waiting += 1;
      const answered = last.then(() => answer(question));
      last = answered.catch(() => {});
      return answered;
    },
    close: () => thread.close(),
  };
}
