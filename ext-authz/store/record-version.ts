import { randomUUID } from 'node:crypto';

/**
 * Makes names for versions of records: never the same twice, of any process, so that a record that
 * is gone and made anew is another one.
 */
export function recordVersions(): () => string {
  const opened = randomUUID();
  let count = 0;
  return () => {
    count += 1;
    return `${opened}-${count.toString(36)}`;
  };
}
