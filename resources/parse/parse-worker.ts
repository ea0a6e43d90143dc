/**
 * The thread of parse-thread.ts: takes texts of documents, answers with what each of them gives.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { type PackedFile, packFile } from './packed-file.ts';
import { parseDocument, unreadableDocument } from './parse-document.ts';

/**
 * Characters of one answer, which the other thread takes at once: ten times those of 10,000 limits.
 * Aliases make a hundred times of what was written.
 */
const LONGEST_ANSWER = 32 * 1024 * 1024;
/** What JSON cannot say, beside it: each takes hundreds of bytes. */
const MOST_ODD = 10_000;

parentPort?.on('message', (texts: readonly string[]) => parentPort?.postMessage(texts.map(parse)));

function parse(text: string): PackedFile {
  const parsed = parseDocument(text, workerData);
  try {
    const packed = packFile(parsed);
    return packed.json.length > LONGEST_ANSWER || packed.odd.length > MOST_ODD
      ? unreadable('it holds too much; split it into several')
      : packed;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return unreadable('it is nested too deeply');
  }
}

function unreadable(reason: string): PackedFile {
  return packFile(unreadableDocument(reason));
}
