import { join, relative } from 'node:path';
import { collect } from '#resources/collect.ts';
import type { FileContent } from '#resources/file-content.ts';
import { type FolderContent, watchFolder } from '#resources/folder.ts';
import { createParser } from '#resources/parse.ts';
import type { ParseOptions } from '#resources/parse-options.ts';
import type { Problem } from '#resources/problem.ts';
import type { Written } from './candidates.ts';

export type Reading = { readonly written: Written; readonly problems: readonly Problem[] };

/**
 * Follows several folders as one source of resources, in their order: of two documents for one resource the earlier folder's counts.
 * Calls `onChange` once with everything before it returns, then at each change. Files are named relative to `from`.
 * @throws Error when a folder cannot be read at the start
 */
export function watchResourceFolders(
  folders: readonly string[],
  from: string,
  options: ParseOptions,
  onChange: (reading: Reading) => void,
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
  return { close: () => watchers.forEach(watcher => void watcher.close()) };
}

function read(
  contents: ReadonlyMap<string, FolderContent>,
  from: string,
  parse: ReturnType<typeof createParser>,
): Reading {
  const files = new Map<string, FileContent>();
  const problems: Problem[] = [];
  for (const [folder, content] of contents) {
    const place = (file: string) => display(join(folder, file), from);
    for (const [file, text] of content.files) files.set(place(file), text);
    problems.push(...content.problems.map(problem => ({ ...problem, file: place(problem.file) })));
  }
  const { problems: found, ...written } = collect(parse(files));
  return { written, problems: [...problems, ...found] };
}

/** Relative where that is shorter to read, as for what lies below `from`. */
function display(path: string, from: string): string {
  const near = relative(from, path);
  return near.startsWith('..') || near === '' ? path : near;
}
