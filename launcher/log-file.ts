import { closeSync, existsSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from '#files/make-folder.ts';

export type LogFile = { write(text: string): void; close(): void };

/**
 * Opens a log of at most `maxBytes` in `path`, and as much older text in `<path>.1`. The earlier
 * log moves to `<path>.1` at once, so that a log begins with its process. A write that fails (disk
 * full) is lost. `failed` hears of the first failure after a success. A deleted log begins again
 * with the next write. Throws the system's error when the file cannot be made.
 */
export function openLogFile(
  path: string,
  maxBytes: number,
  failed: (error: Error) => void,
): LogFile {
  let file = rotate(path);
  let size = 0;
  let broken = false;
  const append = (text: string) => {
    if (size > maxBytes || isDeleted(file)) {
      makeFolder(dirname(path));
      const next = rotate(path);
      closeSync(file);
      file = next;
      size = 0;
    }
    size += writeSync(file, text);
  };
  const write = (text: string) => {
    try {
      append(text);
      broken = false;
    } catch (error) {
      if (!broken) failed(error instanceof Error ? error : new Error(String(error)));
      broken = true;
    }
  };
  return { write, close: () => closeSync(file) };
}

function isDeleted(file: number): boolean {
  return fstatSync(file).nlink === 0;
}

function rotate(path: string): number {
  if (existsSync(path)) renameSync(path, `${path}.1`);
  return openSync(path, 'a', 0o600);
}
