import { randomUUID } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';

/**
 * Writes a new or an existing file, for its owner alone, and waits until it is on the disk.
 * @throws the system's error, which names the file
 */
export function writeDurably(path: string, content: string): void {
  const file = openSync(path, 'w', 0o600);
  try {
    writeFileSync(file, content);
    fsyncSync(file);
  } catch (error) {
    // As Node.js names it where it knows the path.
    if (error instanceof Error) error.message += ` '${path}'`;
    throw error;
  } finally {
    closeSync(file);
  }
}

/**
 * Writes the file whole or not at all. Readers see the old content or the new one, also after a
 * power cut. Only the owner may read it.
 * @throws the system's error
 */
export function replaceFile(path: string, content: string): void {
  withDraft(path, content, draft => renameSync(draft, path));
}

/**
 * Writes the file whole, unless it exists. An existing file stays as it is. Of several processes
 * that do this at once one succeeds. The file survives a power cut, and only the owner may read it.
 * @returns whether this call created the file
 * @throws the system's error
 */
export function createFile(path: string, content: string): boolean {
  const created = withDraft(path, content, draft => linkUnlessThere(draft, path));
  syncFolder(dirname(path));
  return created;
}

/**
 * Gives `use` a file beside `path` that holds the content and is on the disk. `use` puts it in its
 * place in one step.
 */
export function withDraft<T>(path: string, content: string, use: (draft: string) => T): T {
  const draft = `${path}.${randomUUID()}.new`;
  try {
    writeDurably(draft, content);
    return use(draft);
  } finally {
    rmSync(draft, { force: true });
  }
}

/**
 * Unlike a rename, a link never replaces what another process has put there meanwhile.
 * @returns false when the file exists
 */
function linkUnlessThere(draft: string, path: string): boolean {
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
