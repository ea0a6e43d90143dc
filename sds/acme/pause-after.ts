/** Why a certificate did not come. */
export type OrderFailure = {
  /**
   * - `refused`: the authority could not prove the name, or does not issue the certificate.
   * - `limited`: it takes no more orders for a while, which tells nothing of the name.
   * - `away`: it could not be asked, or does not answer as RFC 8555 says.
   */
  readonly kind: 'refused' | 'limited' | 'away';
  /** How long the authority wants to be left alone, in ms. */
  readonly retryAfterMs?: number;
};

const AWAY_MS = { least: 5_000, most: 300_000 };
/**
 * Let's Encrypt allows five failed proofs of a name in an hour. Each way of proving it is tried at
 * once, and a second time in a minute.
 */
const REFUSED_MS = { first: [5_000, 60_000], least: 600_000, most: 3_600_000 };
/** A limit may be for a week. Its end may be moved meanwhile, so it is looked at once a day. */
const MOST_MS = 86_400_000;

/**
 * Returns the ms until the next attempt after the failure of this number, which is 1 for the first.
 * `spread` is in [0, 1).
 */
export function pauseAfter(failure: OrderFailure, count: number, spread: number): number {
  const { kind, retryAfterMs = 0 } = failure;
  const own = kind === 'away' ? doubled(AWAY_MS, count - 1) : refusedPause(failure, count);
  return Math.min(Math.max(own * (1 + spread / 10), retryAfterMs), MOST_MS);
}

function refusedPause({ kind, retryAfterMs = 0 }: OrderFailure, count: number): number {
  const { first } = REFUSED_MS;
  const soon = kind === 'limited' || retryAfterMs > 0 ? undefined : first[count - 1];
  return soon ?? doubled(REFUSED_MS, count - 1 - first.length);
}

function doubled({ least, most }: { least: number; most: number }, times: number): number {
  return Math.min(least * 2 ** Math.min(Math.max(times, 0), 20), most);
}
