/** The shares of requests that proxies log to the control plane, in percent. */
export type Sampling = {
  /** Of the requests that did not fail. */
  readonly sampled: number;
  /** Of those that failed. */
  readonly failed: number;
};

/** Requests a second, of all proxies. */
export type SampledRates = { readonly requests: number; readonly failures: number };

/** At the start all are logged. */
export const FIRST_SAMPLING: Sampling = { sampled: 100, failed: 100 };

/** A share grows at most once in this time, in ms, so that a pause in a load costs little. */
export const GROW_MS = 10_000;

/**
 * At most so many requests a second are logged of each kind, about. People read no faster, and a
 * logged request costs its proxy a quarter more CPU.
 */
const WANTED = 30;

const SHARES: readonly number[] = [100, 50, 20, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01];
const LEAST = 0.01;

/** A share grows only when it would fit well, so that it does not go back and forth. */
const SLACK = 0.7;

/** Returns the sampling for these rates, after the present one. */
export function nextSampling(
  { requests, failures }: SampledRates,
  { failed, sampled }: Sampling,
  mayGrow: boolean,
): Sampling {
  return {
    sampled: nextShare(requests, sampled, mayGrow),
    failed: nextShare(failures, failed, mayGrow),
  };
}

function nextShare(rate: number, present: number, mayGrow: boolean): number {
  const logged = (share: number) => (rate * share) / 100;
  const larger = SHARES.findLast(share => share > present);
  if (mayGrow && larger !== undefined && logged(larger) <= WANTED * SLACK) return larger;
  return SHARES.find(share => share <= present && logged(share) <= WANTED) ?? LEAST;
}
