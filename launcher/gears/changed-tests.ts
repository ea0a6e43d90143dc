import { execFileSync } from 'node:child_process';
import { isEndToEnd } from '../test-files.ts';
import { reaching, readImportGraph } from './import-graph.ts';

/** Files that no source names, and that every test depends on. */
const EVERYTHING = ['package.json', 'package-lock.json', 'tsconfig.json'];

/** Its tests read every source, and name none. */
const READS_ALL = 'lint/';

/** In bytes. */
const LONGEST_LIST = 2 ** 26;

/**
 * Returns those of `tests` that can reach a file that differs from `base`, committed or not. The
 * default base is where this branch left the one that it follows, or origin/main. Throws an Error
 * when git does not know the base.
 */
export function changedTests(
  root: string,
  tests: readonly string[],
  base: string | undefined,
): readonly string[] {
  const changed = changedFiles(root, base);
  if (changed.some(file => EVERYTHING.includes(file))) return tests;
  const graph = readImportGraph(root);
  const imported = reaching(graph, changed, { programs: false });
  const started = reaching(graph, changed, { programs: true });
  const readsChange = (test: string) => changed.length > 0 && test.startsWith(READS_ALL);
  return tests.filter(
    test => readsChange(test) || (isEndToEnd(test) ? started : imported).has(test),
  );
}

function changedFiles(root: string, base: string | undefined): readonly string[] {
  const from = git(
    root,
    'rev-parse',
    '--verify',
    '--end-of-options',
    `${base ?? leftAt(root)}^{commit}`,
  );
  if (from === undefined)
    throw new Error(`git does not know "${base}" here: name a commit, tag or branch`);
  const differing = git(root, 'diff', '--name-only', '--no-renames', '-z', from.trim(), '--');
  const fresh = git(root, 'ls-files', '--others', '--exclude-standard', '-z');
  if (differing === undefined || fresh === undefined)
    throw new Error('git cannot tell what has changed');
  return `${differing}${fresh}`.split('\0').filter(path => path !== '');
}

/** Without an upstream branch only uncommitted changes differ. */
function leftAt(root: string): string {
  for (const followed of ['@{upstream}', 'origin/main']) {
    const commit = git(root, 'merge-base', 'HEAD', followed);
    if (commit !== undefined) return commit.trim();
  }
  return 'HEAD';
}

function git(root: string, ...args: readonly string[]): string | undefined {
  try {
    const options = { cwd: root, encoding: 'utf8', maxBuffer: LONGEST_LIST } as const;
    return execFileSync('git', args, { ...options, stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    return undefined;
  }
}
