/** The shares of requests that proxies log to the control plane, in percent. */
export type Sampling = {
  /** Of the requests that did not fail. */
  readonly sampled: number;
  /** Of those that failed. */
  readonly failed: number;
};

/** Requests a second, of all proxies. */
export type SampledRates = { readonly requests: number; readonly failures: number };

/**
 * So many requests a second are logged of each kind, about. People read no faster, and a logged
 * request costs its proxy a quarter more CPU.
 */
const WANTED = 100;

const SHARES: readonly number[] = [100, 50, 20, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01];

/** The share grows only when it would still fit then, so that it does not go back and forth. */
const SLACK = 0.7;

/** Returns the sampling for these rates, after the present one. */
export function nextSampling({ requests, failures }: SampledRates, present: Sampling): Sampling {
  return {
    sampled: nextShare(requests, present.sampled),
    failed: nextShare(failures, present.failed),
  };
}

function nextShare(rate: number, present: number): number {
  const fits = (share: number) =>
    (rate * share) / 100 <= (share > present ? WANTED * SLACK : WANTED);
  return SHARES.find(fits) ?? (SHARES.at(-1) as number);
}
