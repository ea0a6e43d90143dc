/** On a busy machine too: what takes longer waits for something that does not come. */
export const LONGEST_TEST_MS = 300_000;

/** The argument of a worker that ends after its first file. */
export const ONE_FILE = '--one-file';
