import { mkdirSync, statSync } from 'node:fs';

/**
 * Creates the folder for what must survive a restart, for its owner alone. Throws an Error that
 * names STATE when that fails.
 */
export function makeStateFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`STATE: cannot make the folder ${path}: ${reason}`);
  }
}
