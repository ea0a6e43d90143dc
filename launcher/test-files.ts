import { globSync, statSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The test files below `root`, or those that the arguments name: files, or folders with all that is
 * in them. Throws an Error that names an argument without a test.
 */
export function testFiles(root: string, args: readonly string[]): readonly string[] {
  if (args.length === 0) return below(root, '.');
  return args.flatMap(arg => {
    const stat = statSync(join(root, arg), { throwIfNoEntry: false });
    const files = stat?.isDirectory() ? below(root, arg) : stat?.isFile() ? [arg] : [];
    if (files.length === 0)
      throw new Error(
        `There is no test in "${arg}": name a folder, or a file like xds/snapshot.test.ts`,
      );
    return files;
  });
}

/**
 * Whether a test starts a program: Envoy, a store, a browser, a process of ours. Its folder says
 * so.
 */
export function isEndToEnd(file: string): boolean {
  return file.split('/').includes('e2e');
}

function below(root: string, folder: string): readonly string[] {
  const outside = (name: string) =>
    name.split('/').some(part => part === 'node_modules' || part === '.gateway');
  return globSync(join(folder, '**/*.test.ts'), { cwd: root, exclude: outside }).sort();
}
