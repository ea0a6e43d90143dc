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
  let since = Number.NEGATIVE_INFINITY;
  let told = 0;
  let untold = 0;
  return (...args) => {
    const quiet = now() - since;
    // The clock may be set back.
    if (quiet < 0 || quiet >= QUIET_MS) {
      since = now();
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
