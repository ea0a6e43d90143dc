/**
 * How long a test grants what is promised to take so many ms, in ms: three times as long, because
 * the promise is about a machine that has nothing else to do, and tests run beside others, on slow
 * machines too. Print what it took as a diagnostic.
 */
export function promised(ms: number): number {
  return 3 * ms;
}
