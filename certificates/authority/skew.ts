/**
 * Certificates begin this long, in ms, before they are made, because clocks of different machines
 * differ.
 */
export const SKEW_MS = 60_000;

/**
 * Rounds up to a whole second. Certificates hold whole seconds, and none may end before it was
 * meant to.
 */
export function wholeSecond(ms: number): Date {
  return new Date(Math.ceil(ms / 1_000) * 1_000);
}
