/**
 * Returns the signal for what a request asks the provider, made on the first call. It aborts with
 * the check, or when the provider's own time is up. That time is shorter, so that the answer is
 * 504.
 */
export function providerTime(
  check: () => AbortSignal,
  deadline: () => AbortSignal,
): () => AbortSignal {
  let made: AbortSignal | undefined;
  return () => {
    made ??= AbortSignal.any([check(), deadline()]);
    return made;
  };
}
