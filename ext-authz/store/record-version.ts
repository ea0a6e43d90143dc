import { randomUUID } from 'node:crypto';

/**
 * Returns a maker of names for versions of records. No name is made twice, in any process. A record
 * that is removed and made again thus has another version.
 */
export function recordVersions(): () => string {
  const opened = randomUUID();
  let count = 0;
  return () => {
    count += 1;
    return `${opened}-${count.toString(36)}`;
  };
}
