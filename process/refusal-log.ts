/** The part of a logger that is used here. */
type Log = { warn(fields: object, message: string): void };

/** At most one line in this time, in ms, so that strangers cannot fill the log. */
const QUIET_MS = 1_000;

/** Logs mistakes of ours that ended a client's stream, which the client can repeat at will. */
export function failureLog(
  log: { error(fields: object, message: string): void },
  now: () => number,
): (fields: object, message: string) => void {
  return refusalLog({ warn: (fields, message) => log.error(fields, message) }, now);
}

/**
 * Logs refusals, for example of clients, at most `most` in `quietMs`. Each line says how many were
 * left out before it.
 */
export function refusalLog(
  log: Log,
  now: () => number,
  quietMs = QUIET_MS,
  most = 1,
): (fields: object, message: string) => void {
  let since = Number.NEGATIVE_INFINITY;
  let told = 0;
  let untold = 0;
  return (fields, message) => {
    const quiet = now() - since;
    // The clock may be set back.
    if (quiet < 0 || quiet >= quietMs) {
      since = now();
      told = 0;
    }
    if (told >= most) {
      untold += 1;
      return;
    }
    told += 1;
    log.warn({ ...fields, ...(untold === 0 ? {} : { untold }) }, message);
    untold = 0;
  };
}
