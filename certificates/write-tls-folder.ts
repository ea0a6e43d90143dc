import { mkdtempSync, readdirSync, readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { makeFolder } from '#files/make-folder.ts';
import { writeDurably } from '#files/write-durably.ts';
import type { TlsMaterial } from './tls-material.ts';

const LINK = '..data';

/**
 * Writes `tls.crt`, `tls.key` and `ca.crt` so that a reader sees either all old or all new files.
 * They are links through `..data`, which is swapped at once, as Kubernetes does for a mounted
 * Secret. Only the owner may read them.
 * @throws the system's error
 */
export function writeTlsFolder(folder: string, { certificate, key, ca }: TlsMaterial): void {
  makeFolder(folder);
  const data = mkdtempSync(join(folder, '..data-'));
  const files = { 'tls.crt': certificate, 'tls.key': key, 'ca.crt': ca };
  for (const [name, content] of Object.entries(files)) writeDurably(join(data, name), content);
  swapLink(folder, LINK, basename(data));
  for (const name of Object.keys(files)) {
    if (readLink(join(folder, name)) !== `${LINK}/${name}`)
      swapLink(folder, name, `${LINK}/${name}`);
  }
  removeOthers(folder, basename(data));
}

function swapLink(folder: string, name: string, target: string): void {
  const draft = join(folder, `${name}.new`);
  rmSync(draft, { force: true });
  symlinkSync(target, draft);
  renameSync(draft, join(folder, name));
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

/** Removes earlier content, also what a killed process left half written. */
function removeOthers(folder: string, kept: string): void {
  for (const name of readdirSync(folder)) {
    if (name.startsWith('..data-') && name !== kept)
      rmSync(join(folder, name), { recursive: true, force: true });
  }
}
