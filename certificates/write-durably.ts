import { closeSync, fsyncSync, openSync, writeFileSync } from 'node:fs';

/** Writes a file for its owner alone, and waits until it is on the disk. Throws the system's error. */
export function writeDurably(path: string, content: string): void {
  const file = openSync(path, 'w', 0o600);
  try {
    writeFileSync(file, content);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
