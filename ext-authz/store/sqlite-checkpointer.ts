/** The thread of sqlite-checkpoints.ts. */
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';

const EVERY_MS = 1000;

const database = new DatabaseSync(String(workerData), { timeout: 0 });
const timer = setInterval(checkpoint, EVERY_MS);
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
