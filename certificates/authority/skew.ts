/**
 * Certificates begin this long, in ms, before they are made: clocks of different machines differ.
 */
export const SKEW_MS = 60_000;

/**
 * The date of this second or the next: certificates tell whole seconds, and none is to end before
 * it was meant to.
 */
export function wholeSecond(ms: number): Date {
  return new Date(Math.ceil(ms / 1_000) * 1_000);
}
