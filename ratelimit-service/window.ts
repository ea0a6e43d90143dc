/**
 * What a limit counts in. Windows are aligned to the wall clock in UTC. Source:
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
 * When the window that holds `now` ends, in ms since the epoch: a boundary belongs to the window
 * that begins there.
 */
export function windowEnd(now: number, unit: Unit): number {
  const length = UNIT_MS[unit];
  return (Math.floor(now / length) + 1) * length;
}

/**
 * How long, in ms, until the counters of the window that holds `now` start again: above 0, at most
 * the unit.
 */
export function timeToReset(now: number, unit: Unit): number {
  return windowEnd(now, unit) - now;
}

/**
 * The value of a Retry-After header: whole seconds, rounded up, 1 at least. Source: RFC 9110
 * section 10.2.3.
 */
export function retryAfterSeconds(resetMs: number): number {
  return Math.max(1, Math.ceil(resetMs / 1_000));
}
