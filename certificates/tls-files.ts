import { readFileSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { TlsMaterial } from './tls-material.ts';

/** Certificates, keys and collections of authorities are smaller. */
const MOST_BYTES = 2 * 1024 * 1024;

/**
 * Reads the three files of a folder, not checked. A folder may swap all of them by one link
 * (`..data`), as mounted Secrets and write-tls-folder do. Then all are read behind the same link.
 * So a certificate is never read with the key of another moment.
 */
export function readTlsFiles(
  folder: string,
): { readonly material: TlsMaterial } | { readonly error: string } {
  try {
    const from = dataFolder(folder);
    const read = (name: string) => readBounded(join(from, name));
    return { material: { certificate: read('tls.crt'), key: read('tls.key'), ca: read('ca.crt') } };
  } catch (error) {
    return { error: (error as Error).message };
  }
}

function dataFolder(folder: string): string {
  try {
    return realpathSync(join(folder, '..data'));
  } catch {
    return folder;
  }
}

function readBounded(path: string): string {
  const found = attempt(path, () => statSync(path));
  // Reading a pipe as a file may wait for ever.
  if (!found.isFile()) throw new Error(`${path} is no file`);
  if (found.size > MOST_BYTES) throw new Error(`${path} has more than ${MOST_BYTES} bytes`);
  return attempt(path, () => readFileSync(path, 'utf8'));
}

function attempt<T>(path: string, look: () => T): T {
  try {
    return look();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const missing = code === 'ENOENT' || code === 'ENOTDIR';
    throw new Error(`${path} ${missing ? 'is missing' : `cannot be read: ${code}`}`);
  }
}
