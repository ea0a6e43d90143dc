const FIRST_MS = 50;
const MOST_MS = 1_000;

/**
 * Returns the pause before a server is tried again, in ms, after this many failures in a row. It is
 * 25 to 45 at first, doubles after each failure, and is never more than 900. `random`, in [0, 1),
 * decides a part of it, so that many clients do not come back together.
 */
export function backOff(failures: number, random: number): number {
  return Math.min(FIRST_MS * 2 ** Math.min(failures, 10), MOST_MS) * (0.5 + 0.4 * random);
}
