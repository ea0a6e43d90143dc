import { constants, type FSWatcher, watch } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * What was found at a path. It is its text, nothing (`missing`), or something that cannot be read
 * or is larger than 16 MiB.
 */
export type FileState =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'missing' }
  | { readonly kind: 'unreadable'; readonly message: string };

/** Time from the first event to the read. An editor's truncate, write and rename come together. */
const DEBOUNCE_MS = 10;
/** Finds changes without an event, such as a folder that appears or a network file system. */
const POLL_MS = 1_000;
const MOST_BYTES = 16 * 1024 * 1024;

/**
 * Calls `onState` with what is at `path`, and again when that has changed, until the result is
 * called. Follows edits, renames onto the path, swapped links (also the folder links of
 * Kubernetes), and files and folders that come and go.
 */
export function watchFile(path: string, onState: (state: FileState) => void): () => void {
  const watches = new Map<string, FSWatcher>();
  let last: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  let reading = Promise.resolve();
  let ended = false;

  const read = async () => {
    const folders = await foldersOf(path);
    if (!ended) watchFolders(watches, folders, soon);
    const state = await readState(path);
    if (ended || last === JSON.stringify(state)) return false;
    last = JSON.stringify(state);
    onState(state);
    return true;
  };
  const readNext = (then: (changed: boolean) => void) => {
    reading = reading.then(read).then(then);
  };
  const soon = () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      readNext(() => {});
    }, DEBOUNCE_MS);
  };
  const poll = setInterval(() => {
    readNext(changed => {
      if (!changed) return;
      // The poll found a change that had no event. So the watches belong to a folder that was
      // replaced.
      closeAll(watches);
      readNext(() => {});
    });
  }, POLL_MS);
  readNext(() => {});
  return () => {
    ended = true;
    clearTimeout(timer);
    clearInterval(poll);
    closeAll(watches);
  };
}

/** Returns the folder of the path itself. Where that is a link, adds the folder of its target. */
async function foldersOf(path: string): Promise<ReadonlySet<string>> {
  const target = await realpath(path).catch(() => path);
  return new Set([dirname(path), dirname(target)]);
}

function watchFolders(
  watches: Map<string, FSWatcher>,
  folders: ReadonlySet<string>,
  onEvent: () => void,
) {
  for (const [folder, watcher] of watches) {
    if (!folders.has(folder)) closeOne(watches, folder, watcher);
  }
  for (const folder of folders) {
    if (!watches.has(folder)) watchFolder(watches, folder, onEvent);
  }
}

function watchFolder(watches: Map<string, FSWatcher>, folder: string, onEvent: () => void): void {
  try {
    const watcher = watch(folder, onEvent);
    watcher.on('error', () => closeOne(watches, folder, watcher));
    watches.set(folder, watcher);
  } catch {
    // The folder is missing, or the system has no more watches. The poll sees what happens there.
  }
}

function closeOne(watches: Map<string, FSWatcher>, folder: string, watcher: FSWatcher): void {
  watcher.close();
  if (watches.get(folder) === watcher) watches.delete(folder);
}

function closeAll(watches: Map<string, FSWatcher>): void {
  for (const [folder, watcher] of watches) closeOne(watches, folder, watcher);
}

async function readState(path: string): Promise<FileState> {
  try {
    return await readText(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR'
      ? { kind: 'missing' }
      : { kind: 'unreadable', message };
  }
}

/** Opening or reading a pipe as a file may wait for ever. */
async function readText(path: string): Promise<FileState> {
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const found = await file.stat();
  if (!found.isFile()) return { kind: 'unreadable', message: 'it is no file' };
  if (found.size > MOST_BYTES)
    return { kind: 'unreadable', message: `it has more than ${MOST_BYTES} bytes` };
  return { kind: 'text', text: await file.readFile('utf8') };
}
