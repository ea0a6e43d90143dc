/** Long enough for every test, and short enough to end one that hangs. */
export function soon(): AbortSignal {
  return AbortSignal.timeout(10_000);
}
