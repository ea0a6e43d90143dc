/** At most one call in this time, in ms. A stranger must not be able to fill the log. */
const QUIET_MS = 1_000;

/** Calls `tell` at most once a second, with the number of calls that were left out since. */
export function quietly<Args extends readonly unknown[]>(
  now: () => number,
  tell: (untold: number, ...args: Args) => void,
): (...args: Args) => void {
  let quietUntil = 0;
  let untold = 0;
  return (...args) => {
    if (now() < quietUntil) {
      untold += 1;
      return;
    }
    tell(untold, ...args);
    quietUntil = now() + QUIET_MS;
    untold = 0;
  };
}
