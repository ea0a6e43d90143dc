/**
 * Runs in the thread of diff-questions.ts. It takes a question with what is in force, and answers
 * with the difference.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { diff } from '#controlplane/diff/diff.ts';
import { unpackFile } from '#resources/parse/packed-file.ts';
import { createParser } from '#resources/parse/parse.ts';
import { mergeParsed } from '#resources/parse/parsed-file.ts';
import type { AskedDiff, DiffAnswer } from './diff-questions.ts';

/** Most characters of an answer, which the other thread takes at once. */
const LONGEST_DIFFERENCE = 32 * 1024 * 1024;
const TOO_LARGE = 'the difference is too large to be shown. Ask about fewer documents';

parentPort?.on('message', (asked: AskedDiff) => parentPort?.postMessage(answer(asked)));

function answer(asked: AskedDiff): DiffAnswer {
  try {
    const json = JSON.stringify(compare(asked));
    return json.length > LONGEST_DIFFERENCE ? { error: TOO_LARGE } : { json };
  } catch (error) {
    if (error instanceof RangeError) return { error: TOO_LARGE };
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

function compare({ question, inForce, ...basis }: AskedDiff) {
  const { files, whole = false, remove = [], envoy = false } = question;
  const texts = new Map(files.map(({ name, text }) => [name, { text }]));
  const { resources, rejected } = mergeParsed('', inForce.map(unpackFile));
  return diff({
    ...basis,
    inForce: { resources: new Map(resources.map(each => [each.id, each])), closed: rejected },
    given: { files: createParser(workerData)(texts), whole, remove },
    envoy,
  });
}
