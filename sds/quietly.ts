/** Counts calls of this time together, in ms. A stranger must not be able to fill the log. */
const QUIET_MS = 1_000;

/**
 * Calls `tell` at most `most` times a second, with the number of calls that were left out since the
 * one before.
 */
export function quietly<Args extends readonly unknown[]>(
  now: () => number,
  tell: (untold: number, ...args: Args) => void,
  most = 1,
): (...args: Args) => void {
  let quietUntil = 0;
  let told = 0;
  let untold = 0;
  return (...args) => {
    if (now() >= quietUntil) {
      quietUntil = now() + QUIET_MS;
      told = 0;
    }
    if (told >= most) {
      untold += 1;
      return;
    }
    told += 1;
    tell(untold, ...args);
    untold = 0;
  };
}
