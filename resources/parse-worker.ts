/** The thread of parse-thread.ts: takes texts of documents, answers with what each of them gives. */
import { parentPort, workerData } from 'node:worker_threads';
import { type PackedFile, packFile } from './packed-file.ts';
import { parseDocument, unreadableDocument } from './parse-document.ts';

parentPort?.on('message', (texts: readonly string[]) => parentPort?.postMessage(texts.map(parse)));

function parse(text: string): PackedFile {
  const parsed = parseDocument(text, workerData);
  try {
    return packFile(parsed);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return packFile(unreadableDocument('it is nested too deeply'));
  }
}
