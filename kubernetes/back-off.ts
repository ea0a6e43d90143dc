const FIRST_MS = 200;
const MOST_MS = 5_000;

/**
 * Returns how long to wait after this many failures in a row (from 1), in ms. The time doubles with
 * each failure, and half of it is random. `random` is in [0, 1).
 */
export function backOffMs(failures: number, random: number): number {
  const ms = Math.min(FIRST_MS * 2 ** Math.min(failures - 1, 10), MOST_MS);
  return ms / 2 + (ms / 2) * random;
}
