const FIRST_MS = 200;
const MOST_MS = 5_000;

/**
 * How long to wait after so many failures in a row (from 1), in ms: twice as long each time, half
 * of it by chance. `random` is in [0, 1).
 */
export function backOffMs(failures: number, random: number): number {
  const ms = Math.min(FIRST_MS * 2 ** Math.min(failures - 1, 10), MOST_MS);
  return ms / 2 + (ms / 2) * random;
}
