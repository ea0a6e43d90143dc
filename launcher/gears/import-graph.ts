import { globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The files that each file names. A folder ends with a slash, and stands for the data in it. */
export type ImportGraph = ReadonlyMap<string, Named>;

export type Named = {
  /** Imports, threads and data. */
  readonly paths: ReadonlySet<string>;
  /** Sources that are named but not imported, such as programs. */
  readonly programs: ReadonlySet<string>;
};

const SOURCE = /\.(ts|cts|cjs)$/;
/** A string that may be a path. */
const LITERAL = /(['"`])([#\w./@-]+)\1/g;
/** `join(import.meta.dirname, 'a', 'b')`, or `join(ROOT, 'a', 'b')`. */
const JOINED = /join\(\s*[\w.]+,((?:\s*'[^']+',?)+)\s*\)/g;

/** Reads the graph of all sources below `root`. */
export function readImportGraph(root: string): ImportGraph {
  const outside = (path: string) => /(^|\/)(node_modules|\.gateway|\.git)$/.test(path);
  const sources = globSync('**/*.{ts,cts,cjs}', { cwd: root, exclude: outside });
  return new Map(sources.map(file => [file, namedIn(root, file)]));
}

function namedIn(root: string, file: string): Named {
  const text = readFileSync(join(root, file), 'utf8');
  const folder = dirname(file);
  const literals = [...text.matchAll(LITERAL)].map(([, , path = '']) => path);
  const named = [...literals.filter(isPath), ...joinedIn(text)].flatMap(path => [
    path,
    join(folder, path),
  ]);
  // A test may build the path of the data beside it while it runs.
  const data = file.endsWith('.test.ts') ? [join(folder, 'testdata')] : [];
  const there = [...named, ...data].flatMap(path => existing(root, path));
  const imported = literals.filter(isImport).flatMap(path => importedFrom(root, folder, path));
  return {
    paths: new Set([...imported, ...there.filter(path => !SOURCE.test(path))]),
    programs: new Set(there.filter(path => SOURCE.test(path))),
  };
}

function isImport(literal: string): boolean {
  return /^(#|\.\.?\/)/.test(literal);
}

/** A single word is far more often a name than a folder. */
function isPath(literal: string): boolean {
  return /[./]/.test(literal) && !isImport(literal);
}

function joinedIn(text: string): readonly string[] {
  return [...text.matchAll(JOINED)].map(
    ([, parts = '']) => parts.match(/[^',\s]+/g)?.join('/') ?? '',
  );
}

/** A deleted source is still imported. */
function importedFrom(root: string, folder: string, path: string): readonly string[] {
  const from = path.startsWith('#') ? path.slice(1) : join(folder, path);
  return SOURCE.test(from) ? [from] : existing(root, from);
}

function existing(root: string, path: string): readonly string[] {
  if (/^[./]*$/.test(path) || path.startsWith('..')) return [];
  const stat = statSync(join(root, path), { throwIfNoEntry: false });
  return stat?.isDirectory() ? [`${path.replace(/\/$/, '')}/`] : stat?.isFile() ? [path] : [];
}

/**
 * Returns `changed` and the files that reach one of them. Tests that start programs reach these
 * too.
 */
export function reaching(
  graph: ImportGraph,
  changed: readonly string[],
  { programs }: { readonly programs: boolean },
): ReadonlySet<string> {
  const edges = [...graph].flatMap(([by, named]) =>
    [...named.paths, ...(programs ? named.programs : [])].map(path => ({ by, path })),
  );
  const namedBy = Map.groupBy(edges, ({ path }) => path);
  const reached = new Set(changed);
  for (const file of reached) {
    const names = SOURCE.test(file) ? [file] : [file, ...foldersOf(file)];
    for (const { by } of names.flatMap(name => namedBy.get(name) ?? [])) reached.add(by);
  }
  return reached;
}

/** `a/b/c.yaml` is in `a/` and in `a/b/`. */
function foldersOf(file: string): readonly string[] {
  const parts = file.split('/').slice(0, -1);
  return parts.map((_, at) => `${parts.slice(0, at + 1).join('/')}/`);
}
