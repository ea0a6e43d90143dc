import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes the folder, for its owner alone, and those above it. Node's own `recursive` never returns
 * where a file system answers ENOENT, as /proc does.
 * @throws the system's error
 */
export function makeFolder(path: string): void {
  if (tryMake(path)) return;
  makeFolder(dirname(path));
  if (!tryMake(path)) mkdirSync(path);
}

/** @returns false when the folder above is missing */
function tryMake(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o700 });
    return true;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EEXIST') return true;
    if (code === 'ENOENT' && dirname(path) !== path) return false;
    throw error;
  }
}
