/**
 * The unit of a limit. Windows are aligned to the wall clock in UTC. See
 * docs/reference/kinds/rate-limit.md.
 */
export type Unit = 'second' | 'minute' | 'hour' | 'day';

/**
 * The length of a unit's windows in ms. All divide the day, and days in POSIX time have no leap
 * seconds.
 */
export const UNIT_MS: Readonly<Record<Unit, number>> = {
  second: 1_000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
};

/**
 * Returns when the window that holds `now` ends, in ms since the epoch. A boundary belongs to the
 * window that begins there.
 */
export function windowEnd(now: number, unit: Unit): number {
  const length = UNIT_MS[unit];
  return (Math.floor(now / length) + 1) * length;
}

/**
 * Returns the time in ms until the counters of the window that holds `now` start again. It is above
 * 0 and at most the unit.
 */
export function timeToReset(now: number, unit: Unit): number {
  return windowEnd(now, unit) - now;
}

/**
 * Returns the value of a Retry-After header in whole seconds, rounded up, at least 1. Source: RFC
 * 9110 section 10.2.3.
 */
export function retryAfterSeconds(resetMs: number): number {
  return Math.max(1, Math.ceil(resetMs / 1_000));
}
