import { createHash } from 'node:crypto';
import { readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '#files/make-folder.ts';
import { createFile, withDraft } from '#files/write-durably.ts';
import type { AuthorityStore, Stored } from './authority-store.ts';

/**
 * Stores the roots, or what another `file` is for, in a folder of this machine. Only its owner may
 * read the folder and its files. Its errors are the system's.
 */
export function fileAuthorityStore(folder: string, file = 'roots.json'): AuthorityStore {
  const path = join(folder, file);
  return {
    place: path,
    read: async () => readStored(path),
    async write(text, mark) {
      makeFolder(folder);
      return mark === undefined ? createFile(path, text) : replaceMarked(path, text, mark);
    },
  };
}

function readStored(path: string): Stored | undefined {
  try {
    const text = readFileSync(path, 'utf8');
    return { text, mark: createHash('sha256').update(text).digest('hex') };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * The draft is on the disk before the mark is compared. So nothing slow happens between the check
 * and the replacement.
 */
function replaceMarked(path: string, text: string, mark: string): boolean {
  return withDraft(path, text, draft => {
    if (readStored(path)?.mark !== mark) return false;
    renameSync(draft, path);
    return true;
  });
}
