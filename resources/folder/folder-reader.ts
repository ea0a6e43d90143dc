import { join } from 'node:path';
import type { FileContent } from './file-content.ts';
import { readText } from './file-text.ts';
import { type ListedFile, type Listing, listFolder } from './folder-listing.ts';

/**
 * A file as last read. `fresh` means that it was not read a second time yet. The second reading
 * finds a change that the file system's coarse clock hid.
 */
type Read = {
  readonly signature: string;
  readonly content: FileContent;
  readonly fresh: boolean;
  /**
   * It has become empty, which is not believed yet. Holds the signature of the empty file, and how
   * often it was confirmed.
   */
  readonly emptied?: { readonly signature: string; readonly confirmed: number };
};

export type FolderReading = {
  readonly files: ReadonlyMap<string, FileContent>;
  readonly listing: Listing;
  /**
   * False when it kept changing while it was read. Files that did so have their earlier content, if
   * any.
   */
  readonly stable: boolean;
};

/**
 * An editor that replaces a file's content empties it first, and may be interrupted there. So a
 * file counts as empty after this many confirmations.
 */
const EMPTY_CONFIRMATIONS = 2;

/** How often a folder that changes while it is read is read again at once. */
const ATTEMPTS = 3;

/**
 * Creates a reader that reads a file only when its signature changed. `confirm` also rereads files
 * that were read once since they changed. A reading is of one moment. When the folder changed
 * meanwhile, it is read again.
 * @throws NodeJS.ErrnoException when the folder itself cannot be read, FolderTooLarge
 */
export function createFolderReader(root: string): (confirm: boolean) => FolderReading {
  let known: ReadonlyMap<string, Read> = new Map();
  return confirm => {
    let reading = readOnce(root, known, confirm);
    for (let attempt = 1; attempt < ATTEMPTS && !reading.stable; attempt++)
      reading = readOnce(root, known, confirm);
    known = reading.reads;
    const files = new Map([...reading.reads].map(([file, read]) => [file, read.content]));
    return { files, listing: reading.listing, stable: reading.stable };
  };
}

type Attempt = {
  readonly reads: ReadonlyMap<string, Read>;
  readonly listing: Listing;
  readonly stable: boolean;
};

function readOnce(root: string, known: ReadonlyMap<string, Read>, confirm: boolean): Attempt {
  const before = listFolder(root);
  const reads = new Map<string, Read>();
  for (const [file, entry] of before.files)
    reads.set(file, readEntry(root, file, entry, known.get(file), confirm));
  const unread = [...reads].every(
    ([file, read]) => read === known.get(file) || read.signature === '',
  );
  const after = unread ? before : listFolder(root);
  const stable = sameListing(before, after);
  return { reads: stable ? reads : onlySettled(reads, after, known), listing: after, stable };
}

function readEntry(
  root: string,
  file: string,
  entry: ListedFile,
  last: Read | undefined,
  confirm: boolean,
): Read {
  if ('error' in entry) return { signature: '', content: entry, fresh: false };
  const { signature } = entry;
  const same = last?.signature === signature;
  if (same && !(confirm && last.fresh)) return last;
  const content = readText(join(root, file));
  const emptied = last !== undefined && isEmpty(content) && !isEmpty(last.content);
  if (!emptied) return { signature, content, fresh: !same };
  const before = last.emptied?.signature === signature ? last.emptied.confirmed : 0;
  const confirmed = before + Number(confirm);
  if (confirmed >= EMPTY_CONFIRMATIONS) return { signature, content, fresh: false };
  return { ...last, emptied: { signature, confirmed } };
}

function isEmpty(content: FileContent): boolean {
  return 'text' in content && content.text === '';
}

/**
 * Returns the present files that did not change while they were read. Others are as they were
 * before.
 */
function onlySettled(
  reads: ReadonlyMap<string, Read>,
  now: Listing,
  known: ReadonlyMap<string, Read>,
): ReadonlyMap<string, Read> {
  const settled = new Map<string, Read>();
  for (const [file, entry] of now.files) {
    const read = reads.get(file);
    const kept = read?.signature === signatureOf(entry) ? read : known.get(file);
    if (kept !== undefined) settled.set(file, kept);
  }
  return settled;
}

function sameListing(a: Listing, b: Listing): boolean {
  const entries = [...b.files];
  return (
    a.files.size === b.files.size &&
    entries.every(([file, entry]) => signatureOf(entry) === signatureOf(a.files.get(file)))
  );
}

function signatureOf(entry: ListedFile | undefined): string | undefined {
  return entry === undefined || 'signature' in entry ? entry?.signature : '';
}
