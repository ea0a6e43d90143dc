import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Makes the folder that an operator has named, and those above it. Node's own `recursive` never
 * returns where a file system answers ENOENT, as /proc does.
 * @throws an Error that names the folder and says what to do
 */
export function makeFolder(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory()) return;
  if (found !== undefined) throw new Error(`${path} is a file. Name a folder`);
  makeFolder(dirname(resolve(path)));
  try {
    mkdirSync(path);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : error;
    throw new Error(`cannot make the folder ${path} (${code}). Name one that you may write`);
  }
}
