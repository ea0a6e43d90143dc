import { closeSync, existsSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from '#files/make-folder.ts';

export type LogFile = { write(text: string): void; close(): void };

/**
 * A log of at most `maxBytes` in `path` and as much again, older, in `<path>.1`. What was there
 * moves to `<path>.1` at once, so that a log begins with its process. A write that fails (disk
 * full) is lost: `failed` hears of the first one since one succeeded. A log that somebody deletes
 * begins again with what is written next. Throws the system's error when the file cannot be made.
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
