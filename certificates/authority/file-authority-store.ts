import { createHash } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeDurably } from '../write-durably.ts';
import type { AuthorityStore, Stored } from './authority-store.ts';

const FILE = 'roots.json';

/** The roots in a folder of this machine, which is made for its owner alone, as are the files in it. Its errors are the system's. */
export function fileAuthorityStore(folder: string): AuthorityStore {
  const path = join(folder, FILE);
  return {
    place: path,
    read: async () => readStored(path),
    async write(text, mark) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const draft = `${path}.${process.pid}.new`;
      writeDurably(draft, text);
      try {
        if (mark === undefined) return linkNew(draft, path);
        if (readStored(path)?.mark !== mark) return false;
        renameSync(draft, path);
        return true;
      } finally {
        rmSync(draft, { force: true });
      }
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

/** Unlike a rename, a link never replaces what another process has put there meanwhile. */
function linkNew(draft: string, path: string): boolean {
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}
