import { join, relative } from 'node:path';
import type { FileContent } from '#resources/file-content.ts';
import { type FolderContent, watchFolder } from '#resources/folder.ts';
import { createParser } from '#resources/parse.ts';
import type { ParseOptions } from '#resources/parse-options.ts';
import type { ParsedFile } from '#resources/parsed-file.ts';
import type { Problem } from '#resources/problem.ts';

/** What several folders hold, parsed; the earlier folder's files first. The problems are the folders' own. */
export type FoldersReading = { readonly files: readonly ParsedFile[]; readonly problems: readonly Problem[] };

/**
 * Follows several folders. Calls `onChange` once with everything before it returns, then at each change. Files are named relative to `from`.
 * @throws Error when a folder cannot be read at the start
 */
export function watchResourceFolders(
  folders: readonly string[],
  from: string,
  options: ParseOptions,
  onChange: (reading: FoldersReading) => void,
): { close(): void } {
  const parse = createParser(options);
  const contents = new Map<string, FolderContent>();
  const deliver = () => {
    if (contents.size === folders.length) onChange(read(contents, from, parse));
  };
  const watchers = folders.map(folder =>
    watchFolder(folder, content => {
      contents.set(folder, content);
      deliver();
    }),
  );
  if (folders.length === 0) deliver();
  return { close: () => watchers.forEach(watcher => void watcher.close()) };
}

function read(
  contents: ReadonlyMap<string, FolderContent>,
  from: string,
  parse: ReturnType<typeof createParser>,
): FoldersReading {
  const files = new Map<string, FileContent>();
  const problems: Problem[] = [];
  for (const [folder, content] of contents) {
    const place = (file: string) => display(join(folder, file), from);
    for (const [file, text] of content.files) files.set(place(file), text);
    problems.push(...content.problems.map(problem => ({ ...problem, file: place(problem.file) })));
  }
  return { files: parse(files), problems };
}

/** Relative where that is shorter to read, as for what lies below `from`. */
function display(path: string, from: string): string {
  const near = relative(from, path);
  return near.startsWith('..') || near === '' ? path : near;
}
