/**
 * Runs in the thread of questions.ts. It takes a question with what is in force, and answers with
 * the difference or the explanation.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { diff } from '#controlplane/diff/diff.ts';
import type { DiffQuestion } from '#controlplane/diff/diff-request.ts';
import { type ExplainQuestion, explainRequest } from '#controlplane/explain/explain-request.ts';
import { unpackFile } from '#resources/parse/packed-file.ts';
import { createParser } from '#resources/parse/parse.ts';
import { mergeParsed } from '#resources/parse/parsed-file.ts';
import { toResourceSet } from '#resources/resource-set.ts';
import type { Answer, AskedQuestion } from './questions.ts';

/** Most characters of an answer, which the other thread takes at once. */
const LONGEST_ANSWER = 32 * 1024 * 1024;
const TOO_LARGE = 'the answer is too large to be shown. Ask about fewer documents';

parentPort?.on('message', async (asked: AskedQuestion) =>
  parentPort?.postMessage(await answer(asked)),
);

async function answer({ question, ...basis }: AskedQuestion): Promise<Answer> {
  try {
    const answered =
      'diff' in question ? compare(question.diff, basis) : await explain(question.explain, basis);
    const json = JSON.stringify(answered);
    return json.length > LONGEST_ANSWER ? { error: TOO_LARGE } : { json };
  } catch (error) {
    if (error instanceof RangeError) return { error: TOO_LARGE };
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

type Basis = Omit<AskedQuestion, 'question'>;

function compare(question: DiffQuestion, { inForce, ...basis }: Basis) {
  const { files, whole = false, remove = [], envoy = false } = question;
  const texts = new Map(files.map(({ name, text }) => [name, { text }]));
  const { resources, rejected } = unpack(inForce);
  return diff({
    ...basis,
    inForce: { resources: new Map(resources.map(each => [each.id, each])), closed: rejected },
    given: { files: createParser(workerData)(texts), whole, remove },
    envoy,
  });
}

function explain(question: ExplainQuestion, { inForce, known, options }: Basis) {
  const { resources, rejected } = unpack(inForce);
  return explainRequest(question, {
    resources: toResourceSet(resources, rejected),
    problems: known,
    options,
  });
}

function unpack(inForce: Basis['inForce']) {
  return mergeParsed('', inForce.map(unpackFile));
}
