import { relative } from 'node:path';

/**
 * Returns a path below the working directory relative to it. Places are shown and read this way.
 */
export function shorten(path: string): string {
  const short = relative('.', path);
  return short.startsWith('..') ? path : short || '.';
}
