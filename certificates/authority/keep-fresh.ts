import { X509Certificate } from 'node:crypto';
import type { KeyPair } from './key-pair.ts';
import { SKEW_MS } from './skew.ts';

export type KeepFreshOptions = {
  issue(): Promise<KeyPair>;
  /**
   * Receives the first certificate and each that replaces it. What it throws counts as a failure to
   * issue.
   */
  onIssued(pair: KeyPair): void | Promise<void>;
  /**
   * Called once for each outage. The certificate in use stays, and the renewal is tried again soon.
   */
  onTrouble(message: string): void;
  now(): number;
  /** Returns a number in [0, 1), so that certificates issued together are not renewed together. */
  random(): number;
  after(ms: number, run: () => void): () => void;
};

/**
 * Longest sleep, in ms. While a machine is suspended its timers stand still, but its certificates
 * expire.
 */
const MOST_PAUSE_MS = 60_000;
const RETRY_MS = { part: 20, most: 5_000 };

/**
 * Issues a certificate at once, and again at half of each one's life, until `close`. One that has
 * not begun, because the clock was set back, is replaced too.
 */
export function keepFresh(options: KeepFreshOptions): { close(): void } {
  const { issue, onIssued, onTrouble, now, random, after } = options;
  let due = now();
  let begins = Number.NEGATIVE_INFINITY;
  let lifetime = 0;
  let failing = false;
  let ended = false;
  let cancelTimer = () => {};
  const renew = async () => {
    try {
      const pair = await issue();
      if (ended) return;
      await onIssued(pair);
      const issued = now();
      const { start, end } = lifeOf(pair);
      begins = start - SKEW_MS;
      lifetime = end - issued;
      due = issued + partOf(lifetime, random());
      failing = false;
    } catch (error) {
      if (!failing) onTrouble((error as Error).message);
      failing = true;
      due = now() + Math.min(Math.max(lifetime / RETRY_MS.part, RETRY_MS.part), RETRY_MS.most);
    }
  };
  const turn = async () => {
    if (now() >= due || now() < begins) await renew();
    if (!ended) cancelTimer = after(Math.min(Math.max(due - now(), 1), MOST_PAUSE_MS), turn);
  };
  void turn();
  return {
    close() {
      ended = true;
      cancelTimer();
    },
  };
}

/**
 * Whether to renew a certificate that other processes keep, too. It is due as soon as any of them
 * may find it due.
 */
export function isDue(pair: Pick<KeyPair, 'certificate'>, now: number): boolean {
  const { start, end } = lifeOf(pair);
  return now >= start + partOf(end - start, 0);
}

/** Returns between 45 and 55 per cent of a lifetime. */
function partOf(lifetime: number, random: number): number {
  return lifetime * (0.45 + random / 10);
}

function lifeOf({ certificate }: Pick<KeyPair, 'certificate'>): {
  readonly start: number;
  readonly end: number;
} {
  const { validFromDate, validToDate } = new X509Certificate(certificate);
  return { start: validFromDate.getTime() + SKEW_MS, end: validToDate.getTime() };
}
