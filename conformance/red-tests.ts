import { join } from 'node:path';

/** A file with the names of the tests that are known to fail, one a line. */
export const RED_PATH = join(import.meta.dirname, 'red.txt');

/** Returns the names in the text of that file. */
export function redTests(text: string): ReadonlySet<string> {
  return new Set(text.split('\n').filter(line => line !== ''));
}
