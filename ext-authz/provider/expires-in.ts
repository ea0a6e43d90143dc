/** The lifetime for a value that makes no sense (docs/adr/0014-session-store.md). */
const ODD_S = 60;
/** Caches do not count further either (RFC 9111 section 1.2.2). Later dates break cookies. */
export const LONGEST_S = 2 ** 31 - 1;

/**
 * Parses `expires_in` of a token answer (RFC 6749 section 5.1) to a lifetime in whole seconds, 1 to
 * 2^31 - 1. 0 or less, and what is not a number, gives one minute. Decimal digits in a string count
 * as a number, because some providers send them.
 * @returns undefined when it is absent
 */
export function parseExpiresIn(value: unknown): number | undefined {
  if (value === undefined) return undefined;
  const seconds =
    typeof value === 'string' && /^\d{1,15}(?:\.\d+)?$/.test(value) ? Number(value) : value;
  if (typeof seconds !== 'number' || Number.isNaN(seconds) || seconds <= 0) return ODD_S;
  return seconds === Number.POSITIVE_INFINITY
    ? ODD_S
    : Math.min(LONGEST_S, Math.max(1, Math.floor(seconds)));
}
