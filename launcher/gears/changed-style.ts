import { createHash } from 'node:crypto';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** What Biome has passed, by the path below the root: the hash of the file's text. */
type Passed = Readonly<Record<string, string>>;

/** What Biome looks at, or might. Biome itself leaves out what its settings exclude. */
const CHECKED = ['**/*.{ts,cjs,json}', '.*/**/*.{ts,cjs,json}'];
const OUTSIDE = ['node_modules', '.gateway', 'dist', '.git'];

/** What the verdict about every file depends on. Rules for a library need it as a dependency. */
const RULES = ['biome.json', 'package.json', 'node_modules/@biomejs/biome/package.json'];

/** A longer list of files does not fit on a command line everywhere. All are checked then. */
const MOST = 500;

export type ChangedStyle = {
  /** Files that Biome has not passed as they are, or undefined: it should check all. */
  readonly files: readonly string[] | undefined;
  /** Keeps that Biome has passed all files as they were when this was read. */
  passed(): void;
};

/**
 * Compares the sources below `root` with those that Biome passed last, as kept in the file `known`.
 * A rule judges a file by its own text. The rule about circles of imports reads other files, but a
 * new circle goes through a changed file, and is reported there.
 */
export function changedStyle(root: string, known: string): ChangedStyle {
  const rules = RULES.map(file => hash(join(root, file))).join(' ');
  const now: Passed = Object.fromEntries(
    globSync(CHECKED, { cwd: root, exclude: OUTSIDE.map(name => `**/${name}`) })
      .sort()
      .map(file => [file, hash(join(root, file))]),
  );
  const before = read(known);
  const files = Object.keys(now).filter(file => before.files[file] !== now[file]);
  return {
    files: before.rules !== rules || files.length > MOST ? undefined : files,
    passed: () => {
      mkdirSync(dirname(known), { recursive: true });
      writeFileSync(known, JSON.stringify({ rules, files: now }));
    },
  };
}

function read(known: string): { readonly rules: string; readonly files: Passed } {
  try {
    return JSON.parse(readFileSync(known, 'utf8'));
  } catch {
    return { rules: '', files: {} };
  }
}

function hash(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('base64');
}
