/** The thread of sqlite-checkpoints.ts. */
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';

const { file, everyMs } = workerData as { readonly file: string; readonly everyMs: number };

const database = new DatabaseSync(file, { timeout: 0 });
checkpoint();
const timer = setInterval(checkpoint, everyMs);
parentPort?.once('message', () => {
  clearInterval(timer);
  database.close();
});

function checkpoint(): void {
  try {
    database.exec('PRAGMA wal_checkpoint(PASSIVE)');
  } catch {
    // Another process is at it, or the disk fails, which writes then report.
  }
}
