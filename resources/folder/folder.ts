import { type FSWatcher, watch } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Problem } from '#resources/problem.ts';
import type { FileContent } from './file-content.ts';
import { describeError, type Listing, reasonOf } from './folder-listing.ts';
import { createFolderReader, type FolderReading } from './folder-reader.ts';
import { type Files, halfWritten, holdBack } from './half-written.ts';

export type FolderContent = {
  /**
   * Path relative to the folder → content, sorted. When the folder itself is gone, these are the
   * last known files.
   */
  readonly files: ReadonlyMap<string, FileContent>;
  /** Problems of the folder itself or of one in it, named relative to it. */
  readonly problems: readonly Problem[];
};

export type FolderOptions = {
  /** How long it must be quiet before a change is read. */
  readonly quietMs: number;
  /** After this long a change is read although events go on. */
  readonly longestMs: number;
  /**
   * How long it must be quiet while a file looks half written. Until then the folder counts as it
   * was before.
   */
  readonly stillMs: number;
  /** After this long other files count although a file looks half written. */
  readonly longestHeldMs: number;
  /** How often the folder is scanned, for changes that the kernel does not announce. */
  readonly rescanMs: number;
  /** Waits at the start, for this many ms. */
  readonly pause: (ms: number) => void;
};

const STILL_MS = 200;
const LONGEST_HELD_MS = 2000;

const DEFAULTS: FolderOptions = {
  quietMs: 20,
  longestMs: 200,
  stillMs: STILL_MS,
  longestHeldMs: LONGEST_HELD_MS,
  rescanMs: 1000,
  pause: ms => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms),
};

/**
 * Calls `onChange` with the content of a folder before it returns, and again whenever the content
 * has changed. It follows edits, atomic renames, new folders and symlink swaps as of Kubernetes'
 * mounts. A file that is written in place does not count before it looks whole, so that no policy
 * is missing because the writer has not come to it yet. At the start, when nothing is known that
 * could stay in force, it waits until no file is so new. A folder that vanishes is a Problem, and
 * its last files stay. `close` ends it.
 * @throws Error when the folder cannot be read at the start
 */
export function watchFolder(
  root: string,
  onChange: (content: FolderContent) => void,
  options: Partial<FolderOptions> = {},
): { close(): void } {
  const watcher = new FolderWatcher(root, onChange, { ...DEFAULTS, ...options });
  watcher.start();
  return watcher;
}

class FolderWatcher {
  readonly #root: string;
  readonly #onChange: (content: FolderContent) => void;
  readonly #options: FolderOptions;
  readonly #read: (confirm: boolean) => FolderReading;
  readonly #watches = new Map<string, { readonly identity: string; readonly watcher: FSWatcher }>();
  #content: FolderContent = { files: new Map(), problems: [] };
  #listing: Listing = { files: new Map(), folders: new Map(), loops: [] };
  /** What was read while the files `half` looked half written, and since when, in ms. */
  #held:
    | { readonly files: Files; readonly half: readonly string[]; readonly since: number }
    | undefined;
  #rescan: NodeJS.Timeout | undefined;
  #quiet: NodeJS.Timeout | undefined;
  #longest: NodeJS.Timeout | undefined;

  constructor(root: string, onChange: (content: FolderContent) => void, options: FolderOptions) {
    this.#root = root;
    this.#onChange = onChange;
    this.#options = options;
    this.#read = createFolderReader(root);
  }

  start(): void {
    try {
      const reading = this.#readStill();
      this.#listing = reading.listing;
      this.#content = this.#toContent(reading);
    } catch (error) {
      const why = reasonOf(error);
      throw new Error(
        `Cannot read the folder ${this.#root} for resources: ${why}. Correct it or name another`,
        {
          cause: error,
        },
      );
    }
    this.#rescan = setInterval(() => this.#lookAgain(), this.#options.rescanMs);
    this.#onChange(this.#content);
  }

  #readStill(): FolderReading {
    const { longestHeldMs, pause, stillMs } = this.#options;
    const end = performance.now() + longestHeldMs;
    for (;;) {
      const reading = this.#read(false);
      const rest = Math.min(stillMs - ageOf(reading.listing), end - performance.now());
      if (rest <= 0) return reading;
      pause(rest);
    }
  }

  close(): void {
    clearInterval(this.#rescan);
    this.#clearTimers();
    for (const { watcher } of this.#watches.values()) watcher.close();
    this.#watches.clear();
  }

  #clearTimers(): void {
    clearTimeout(this.#quiet);
    clearTimeout(this.#longest);
    this.#longest = undefined;
  }

  /** Notes an event. The folder is read once it is quiet. */
  readonly #stir = (): void => {
    const { quietMs, longestMs, stillMs, longestHeldMs } = this.#options;
    const [quiet, longest] =
      this.#held === undefined ? [quietMs, longestMs] : [stillMs, longestHeldMs];
    clearTimeout(this.#quiet);
    this.#quiet = setTimeout(() => this.#look(false, true), quiet);
    this.#longest ??= setTimeout(() => this.#look(false), longest);
  };

  /** Finds changes without an event. The timers of a change under way handle that change. */
  #lookAgain(): void {
    if (this.#longest === undefined) this.#look(true);
  }

  #look(confirm: boolean, wasQuiet = false): void {
    this.#clearTimers();
    const content = this.#readContent(confirm, wasQuiet);
    if (isDeepStrictEqual(content, this.#content)) return;
    this.#content = content;
    this.#onChange(content);
  }

  #readContent(confirm: boolean, wasQuiet: boolean): FolderContent {
    try {
      const reading = this.#read(confirm);
      const whole = this.#wholeOf(reading, wasQuiet);
      if (!reading.stable || this.#held !== undefined) this.#stir();
      return whole;
    } catch (error) {
      const message = `${describeError(error)}. The last resources of this folder stay in force`;
      return { files: this.#content.files, problems: [folderProblem('error', '', message)] };
    }
  }

  /** Returns what counts of a reading, which is all of it unless a file looks half written. */
  #wholeOf(reading: FolderReading, wasQuiet: boolean): FolderContent {
    const before = { files: this.#content.files, listing: this.#listing };
    this.#listing = reading.listing;
    // A file that looked half written grows past what it was before it is whole.
    const half = [...new Set([...(this.#held?.half ?? []), ...halfWritten(before, reading)])];
    // File systems that announce nothing are quiet while a file grows.
    const isStill =
      half.length === 0 || (wasQuiet && isDeepStrictEqual(reading.files, this.#held?.files));
    const since = this.#held?.since ?? performance.now();
    this.#held = isStill ? undefined : { files: reading.files, half, since };
    const content = this.#toContent(reading);
    if (isStill) return content;
    if (performance.now() - since < this.#options.longestHeldMs) return this.#content;
    const busy = half.map(file => folderProblem('warning', file, this.#busy));
    return {
      files: holdBack(half, before.files, content.files),
      problems: [...content.problems, ...busy],
    };
  }

  get #busy(): string {
    return `this file is being written, without a pause of ${this.#options.stillMs} ms. What it was before stays in force until then`;
  }

  #toContent({ files, listing }: FolderReading): FolderContent {
    const loops = listing.loops.map(path =>
      folderProblem(
        'warning',
        path,
        'this symbolic link leads to a folder above it. It is not followed',
      ),
    );
    return { files, problems: [...loops, ...this.#watchFolders(listing.folders)] };
  }

  /**
   * Watches exactly these folders. When another folder has taken the place of one, the new one is
   * watched.
   */
  #watchFolders(folders: ReadonlyMap<string, string>): readonly Problem[] {
    for (const [path, { identity, watcher }] of this.#watches) {
      if (folders.get(path) === identity) continue;
      watcher.close();
      this.#watches.delete(path);
    }
    return [...folders].flatMap(([path, identity]) =>
      this.#watches.has(path) ? [] : this.#watch(path, identity),
    );
  }

  #unwatch(path: string, watcher: FSWatcher): void {
    watcher.close();
    if (this.#watches.get(path)?.watcher === watcher) this.#watches.delete(path);
    this.#stir();
  }

  #watch(path: string, identity: string): readonly Problem[] {
    try {
      const watcher = watch(join(this.#root, path), this.#stir);
      watcher.on('error', () => this.#unwatch(path, watcher));
      this.#watches.set(path, { identity, watcher });
      // What appeared in the folder between listing and watching it had no event.
      this.#stir();
      return [];
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
      const message = `changes here are found only every ${this.#options.rescanMs} ms, as this folder cannot be watched: ${code}`;
      return [folderProblem('warning', path, message)];
    }
  }
}

/** Returns the age of the newest file, in ms. The clock of a file system may be ahead. */
function ageOf({ files }: Listing): number {
  const now = Date.now();
  let newest = Number.NEGATIVE_INFINITY;
  for (const file of files.values())
    if ('written' in file && file.written <= now) newest = Math.max(newest, file.written);
  return now - newest;
}

function folderProblem(severity: Problem['severity'], file: string, message: string): Problem {
  return { severity, kind: '', namespace: '', name: '', file, line: 1, message };
}
