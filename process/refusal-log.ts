/** The part of a logger that is used here. */
type Log = { warn(fields: object, message: string): void };

/** One line in this time, in ms: strangers must not fill the log. */
const QUIET_MS = 1_000;

/** Tells of refused peers, once a second at most, with how many were not told of. */
export function refusalLog(log: Log, now: () => number): (fields: object, message: string) => void {
  let quietUntil = Number.NEGATIVE_INFINITY;
  let untold = 0;
  return (fields, message) => {
    if (now() < quietUntil) {
      untold += 1;
      return;
    }
    log.warn({ ...fields, ...(untold === 0 ? {} : { untold }) }, message);
    quietUntil = now() + QUIET_MS;
    untold = 0;
  };
}
