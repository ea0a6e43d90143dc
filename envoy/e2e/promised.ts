/**
 * Returns how long a test waits, in ms, for what is promised to take so many ms. It is three times
 * as long, because the promise is about an idle machine. Tests run beside others, and on slow
 * machines too. Print the measured time as a diagnostic.
 */
export function promised(ms: number): number {
  return 3 * ms;
}
