import type { Leading } from '#kubernetes/lease.ts';

export type CandidacyOptions = {
  /** Tries to hold the Lease until it is closed, each time under a new identity. */
  lead(onLeading: (leading: boolean) => void): Leading;
  onLeading(leading: boolean): void;
  after(ms: number, callback: () => void): () => void;
};

export type Candidacy = {
  /** Takes whether proxies are connected to this control plane. */
  proxies(connected: boolean): void;
  /** Releases the Lease. */
  close(): Promise<void>;
};

/**
 * A control plane without proxies leaves the Lease to others for this time after its start, in ms…
 */
const ASIDE_MS = 5_000;
/** …and again when it has held it for this time without any. */
const WITHOUT_PROXIES_MS = 20_000;

/**
 * Decides whether this control plane competes for the Lease. It does at once when it has proxies.
 * Acceptance by proxies is known only to the control plane that they are connected to. So one
 * without proxies holds the Lease for a bounded time, and then another that has some gets it.
 */
export function openCandidacy({ lead, onLeading, after }: CandidacyOptions): Candidacy {
  let candidate: Leading | undefined;
  /** The Lease that was left last is released. */
  let left: Promise<void> | undefined;
  /**
   * The number of candidacies so far. News of an earlier one, which may still be ending, does not
   * count.
   */
  let attempt = 0;
  let leading = false;
  let connected = false;
  let closed = false;
  let cancel = () => {};

  const wait = (ms: number, then: () => void) => {
    cancel();
    cancel = after(ms, then);
  };
  const stand = () => {
    cancel();
    if (closed || candidate !== undefined) return;
    attempt += 1;
    const mine = attempt;
    candidate = lead(next => {
      if (mine === attempt) tell(next);
    });
  };
  const tell = (next: boolean) => {
    if (next === leading) return;
    leading = next;
    onLeading(next);
    watch();
  };
  const watch = () => {
    if (candidate === undefined) return;
    if (leading && !connected) wait(WITHOUT_PROXIES_MS, stepAside);
    else cancel();
  };
  const stepAside = () => {
    const leaving = candidate;
    candidate = undefined;
    tell(false);
    left = leaving?.close();
    wait(ASIDE_MS, stand);
  };
  wait(ASIDE_MS, stand);
  return {
    proxies(now) {
      if (now === connected) return;
      connected = now;
      if (connected) stand();
      watch();
    },
    async close() {
      closed = true;
      cancel();
      await Promise.all([left, candidate?.close()]);
    },
  };
}
