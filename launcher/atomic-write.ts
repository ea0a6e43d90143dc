import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/**
 * Writes the file whole or not at all: readers see the old content or the new one, also after a power cut.
 * Readable by its owner only. Throws the system's error.
 */
export function atomicWrite(path: string, content: string): void {
  const draft = `${path}.${process.pid}.new`;
  try {
    writeDurably(draft, content);
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

function writeDurably(path: string, content: string): void {
  const file = openSync(path, 'w', 0o600);
  try {
    writeFileSync(file, content);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
