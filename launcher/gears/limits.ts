/** A test that takes longer waits for something that does not come, also on a busy machine. */
export const LONGEST_TEST_MS = 300_000;

/** Files that take longer than all others, by what their paths end with. */
const LONG_FILES_MS: Readonly<Record<string, number>> = {
  'conformance/e2e/conformance.test.ts': 1_500_000,
};

/** Returns how long a file that is longer than all others may take, or else undefined. */
export function longestMs(path: string): number | undefined {
  return Object.entries(LONG_FILES_MS).find(([end]) => path.endsWith(end))?.[1];
}

/** The argument of a worker that ends after its first file. */
export const ONE_FILE = '--one-file';
