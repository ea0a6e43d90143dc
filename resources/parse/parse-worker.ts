/**
 * Runs in the thread of parse-thread.ts. It takes texts of documents and answers with the result of
 * each.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { KINDS } from '#resources/kinds/kinds.ts';
import { type PackedFile, packFile } from './packed-file.ts';
import { parseDocument } from './parse-document.ts';
import type { Language } from './parse-options.ts';
import { unreadableDocument } from './parsed-file.ts';

/**
 * Most characters of one answer, which the other thread takes at once. This is ten times those of
 * 10,000 limits. Aliases can expand a text a hundred times.
 */
const LONGEST_ANSWER = 32 * 1024 * 1024;
/** Most values that JSON cannot hold. Each takes hundreds of bytes. */
const MOST_ODD = 10_000;

const LANGUAGE: Language = { ...workerData, kinds: KINDS };

parentPort?.on('message', (texts: readonly string[]) => parentPort?.postMessage(texts.map(parse)));

function parse(text: string): PackedFile {
  const parsed = parseDocument(text, LANGUAGE);
  try {
    const packed = packFile(parsed);
    return packed.json.length > LONGEST_ANSWER || packed.odd.length > MOST_ODD
      ? unreadable('it holds too much. Split it into several')
      : packed;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return unreadable('it is nested too deeply');
  }
}

function unreadable(reason: string): PackedFile {
  return packFile(unreadableDocument(reason));
}
