import { join, relative, resolve, sep } from 'node:path';
import type { FileContent } from '#resources/folder/file-content.ts';
import { type FolderContent, watchFolder } from '#resources/folder/folder.ts';
import type { ParsedTexts, Parser } from '#resources/parse/parse.ts';
import { ParseThread } from '#resources/parse/parse-thread.ts';
import type { ParsedFile } from '#resources/parse/parsed-file.ts';
import type { Problem } from '#resources/problem.ts';
import { secretFiller } from './fill-secrets.ts';
import { parseInTurns } from './parse-in-turns.ts';
import { SecretPlaces, type SecretPlacesOptions } from './secret-places.ts';

/**
 * The parsed content of several folders. The earlier folder's files come first. The Problems are
 * the folders' own.
 */
export type FoldersReading = {
  readonly files: readonly ParsedFile[];
  readonly problems: readonly Problem[];
};

export type FoldersOptions = {
  readonly folders: readonly string[];
  /** Files are named relative to it. */
  readonly from: string;
  readonly parser: Parser;
  /** Which values Secrets may take from elsewhere. Default: those of files beside them. */
  readonly secrets?: SecretPlacesOptions;
  /** Called with the cause when the thread that parses large input has ended unexpectedly. */
  onThreadEnd(cause: unknown): void;
  after(ms: number, callback: () => void): () => void;
};

/**
 * Up to this many characters are parsed at once, in about 100 ms, or a second where aliases repeat
 * them. Of more, simple documents are parsed in turns, and a thread parses the others.
 */
const AT_ONCE = 32 * 1024;

/** The interval, in ms, of looks for changes in files that Secrets name. */
const LOOK_MS = 1_000;

const BESIDE_ALONE: SecretPlacesOptions = { environment: {}, variables: [], folders: [] };

/**
 * Follows several folders. Calls `onChange` with everything before it returns, then at each change.
 * Large input comes later, once it is parsed. Every reading is of one moment, and later than the
 * one before. While large input is parsed, other edits wait, and the last of several counts.
 * @throws Error when a folder cannot be read at the start
 */
export function watchResourceFolders(
  options: FoldersOptions,
  onChange: (reading: FoldersReading) => void,
): { close(): void } {
  const following = new ResourceFolders(options, onChange);
  following.start();
  return following;
}

class ResourceFolders {
  readonly #options: FoldersOptions;
  readonly #onChange: (reading: FoldersReading) => void;
  readonly #parser: Parser;
  readonly #thread: ParseThread;
  readonly #contents = new Map<string, FolderContent>();
  readonly #watchers: { close(): void }[] = [];
  readonly #places: SecretPlaces;
  readonly #fill: (file: ParsedFile) => ParsedFile;
  #cancelLook = () => {};
  #isClosed = false;
  #parsing = false;
  /** Whether something changed while the thread parsed the earlier content. */
  #behind = false;

  constructor(options: FoldersOptions, onChange: (reading: FoldersReading) => void) {
    const { parser, after, from, folders, onThreadEnd, secrets = BESIDE_ALONE } = options;
    this.#options = options;
    this.#onChange = onChange;
    this.#parser = parser;
    const places = new SecretPlaces(secrets);
    this.#places = places;
    this.#fill = secretFiller((place, file) => {
      const path = resolve(from, file);
      const folder = folders.find(each => path.startsWith(`${resolve(each)}${sep}`));
      return places.find(place, path, resolve(folder ?? path));
    });
    this.#thread = new ParseThread({ options: parser.options, failed: onThreadEnd, after });
  }

  start(): void {
    const { folders } = this.#options;
    for (const folder of folders) {
      const take = (content: FolderContent) => {
        this.#contents.set(folder, content);
        if (this.#contents.size === folders.length) this.#read();
      };
      this.#watchers.push(watchFolder(folder, take));
    }
    if (folders.length === 0) this.#read();
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelLook();
    for (const watcher of this.#watchers) watcher.close();
    this.#thread.close();
  }

  #read(): void {
    this.#behind = this.#parsing;
    if (this.#parsing) return;
    const { files, problems } = gather(this.#contents, this.#options.from);
    const round = this.#parser.begin(files);
    const deliver = (parsed?: ParsedTexts) =>
      this.#onChange({ files: this.#filled(round.finish(parsed)), problems });
    if (lengthOf(round.unseen) > AT_ONCE) void this.#parseAside(round.unseen, deliver);
    else deliver();
  }

  #filled(files: readonly ParsedFile[]): readonly ParsedFile[] {
    this.#cancelLook();
    this.#places.begin();
    const filled = files.map(this.#fill);
    if (this.#places.hasFiles()) this.#lookLater();
    return filled;
  }

  #lookLater(): void {
    this.#cancelLook = this.#options.after(LOOK_MS, () => {
      if (this.#places.haveChanged()) this.#read();
      else this.#lookLater();
    });
  }

  async #parseAside(
    texts: Iterable<string>,
    deliver: (parsed: ParsedTexts) => void,
  ): Promise<void> {
    this.#parsing = true;
    const isClosed = () => this.#isClosed;
    const { left, parsed: simple } = await parseInTurns(texts, this.#parser, AT_ONCE, isClosed);
    if (isClosed()) return;
    const others = lengthOf(left) > AT_ONCE ? await this.#thread.parse(left) : [];
    const parsed = new Map([...simple, ...others]);
    this.#parsing = false;
    deliver(parsed);
    if (this.#behind) this.#read();
  }
}

function lengthOf(texts: Iterable<string>): number {
  let length = 0;
  for (const text of texts) length += text.length;
  return length;
}

type Gathered = {
  readonly files: ReadonlyMap<string, FileContent>;
  readonly problems: readonly Problem[];
};

function gather(contents: ReadonlyMap<string, FolderContent>, from: string): Gathered {
  const files = new Map<string, FileContent>();
  const problems: Problem[] = [];
  for (const [folder, content] of contents) {
    const place = (file: string) => display(join(folder, file), from);
    for (const [file, text] of content.files) files.set(place(file), text);
    problems.push(...content.problems.map(problem => ({ ...problem, file: place(problem.file) })));
  }
  return { files, problems };
}

/** Returns a path relative to `from` where that is shorter, as for what lies below it. */
function display(path: string, from: string): string {
  const near = relative(from, path);
  return near.startsWith('..') || near === '' ? path : near;
}
