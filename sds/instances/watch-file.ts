import { constants, type FSWatcher, watch } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { STILL_MS, type Stillness, stillness } from './stillness.ts';

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

/** What is there may be a part of what is being written. */
const UNFINISHED = { kind: 'unfinished' } as const;

/**
 * Calls `onState` with what is at `path`, and again when that has changed, until the result is
 * called. Follows edits, renames onto the path, swapped links (also the folder links of
 * Kubernetes), and files and folders that come and go. A file that is written in place counts once
 * it is still, as stillness says. `now` is in ms and never goes back.
 */
export function watchFile(
  path: string,
  onState: (state: FileState) => void,
  now = () => performance.now(),
): () => void {
  const watches = new Map<string, FSWatcher>();
  const writes = stillness(now);
  let targets: ReadonlyMap<string, string> = new Map();
  let last: FileState | undefined;
  let timer: NodeJS.Timeout | undefined;
  let dueAt = Number.POSITIVE_INFINITY;
  let reading = Promise.resolve();
  let ended = false;

  const onEvent = (folder: string, type: string, name: string | null) => {
    const isOther = targets.get(folder) !== name;
    writes.event(type === 'rename' ? 'rename' : isOther ? 'other' : 'write');
    readIn(DEBOUNCE_MS);
  };
  const read = async () => {
    targets = await targetsOf(path);
    if (!ended) watchFolders(watches, targets.keys(), onEvent);
    const state = await readState(path, writes);
    if (state.kind === 'unfinished') return readIn(STILL_MS);
    if (ended || isDeepStrictEqual(state, last)) return;
    last = state;
    onState(state);
    if (writes.used()) return;
    // A change that had no event. So the watches belong to a folder that was replaced.
    closeAll(watches);
    readNext();
  };
  const readNext = () => {
    reading = reading.then(read);
  };
  const readIn = (ms: number) => {
    const at = performance.now() + ms;
    if (ended || at >= dueAt) return;
    clearTimeout(timer);
    dueAt = at;
    timer = setTimeout(() => {
      dueAt = Number.POSITIVE_INFINITY;
      readNext();
    }, ms);
  };
  const poll = setInterval(readNext, POLL_MS);
  readNext();
  return () => {
    ended = true;
    clearTimeout(timer);
    clearInterval(poll);
    closeAll(watches);
  };
}

/** Returns the name of the file by its folder. Where it is a link, adds its target. */
async function targetsOf(path: string): Promise<ReadonlyMap<string, string>> {
  const target = await realpath(path).catch(() => path);
  return new Map([path, target].map(each => [dirname(each), basename(each)]));
}

type OnEvent = (folder: string, type: string, name: string | null) => void;

function watchFolders(
  watches: Map<string, FSWatcher>,
  wanted: Iterable<string>,
  onEvent: OnEvent,
): void {
  const folders = new Set(wanted);
  for (const [folder, watcher] of watches) {
    if (!folders.has(folder)) closeOne(watches, folder, watcher);
  }
  for (const folder of folders) {
    if (!watches.has(folder)) watchFolder(watches, folder, onEvent);
  }
}

function watchFolder(watches: Map<string, FSWatcher>, folder: string, onEvent: OnEvent): void {
  try {
    const watcher = watch(folder, (type, name) => onEvent(folder, type, name));
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

type Read = FileState | typeof UNFINISHED;

async function readState(path: string, writes: Stillness): Promise<Read> {
  try {
    return await readText(path, writes);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR'
      ? { kind: 'missing' }
      : { kind: 'unreadable', message };
  }
}

/** Opening or reading a pipe as a file may wait for ever. */
async function readText(path: string, writes: Stillness): Promise<Read> {
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const found = await file.stat();
  if (!found.isFile()) return { kind: 'unreadable', message: 'it is no file' };
  // The clock here has whole milliseconds, and the time of the file has parts of them.
  if (!writes.isStill(Date.now() + 1 - found.mtimeMs)) return UNFINISHED;
  if (found.size > MOST_BYTES)
    return { kind: 'unreadable', message: `it has more than ${MOST_BYTES} bytes` };
  const text = await file.readFile('utf8');
  const { mtimeMs, size } = await file.stat();
  if (mtimeMs === found.mtimeMs && size === found.size) return { kind: 'text', text };
  if (!writes.isOverdue()) return UNFINISHED;
  return { kind: 'unreadable', message: 'it changes while it is read, again and again' };
}
