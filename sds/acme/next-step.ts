import type { AcmeRecord, ChallengeType } from './acme-record.ts';
import { CHALLENGES } from './acme-record.ts';

/** When a certificate is valid, in ms since the epoch. */
export type Validity = { readonly start: number; readonly end: number };

export type Situation = {
  readonly record: AcmeRecord;
  /** Undefined: there is no certificate of this authority for this name. */
  readonly validity: Validity | undefined;
  /** Since when a proxy that serves the name is connected. Undefined: none is. */
  readonly servedSince: number | undefined;
  /** The name of this process in claims. */
  readonly me: string;
  readonly now: number;
  /** In [0, 1), so that certificates of one day are not renewed in one moment. */
  readonly spread: number;
};

/** Ordered now, or looked at again after some ms. */
export type NextStep = { readonly kind: 'order' } | { readonly kind: 'wait'; readonly ms: number };

/** How often what is kept is read, in ms: when a renewal is near, and when it is not. */
export const LOOK_MS = { near: 2_000, far: 30_000 };
/** A proxy that has just connected does not listen yet. */
const SETTLED_MS = 3_000;

/** Returns what a process does about a certificate. Of several processes one orders it. */
export function nextStep(situation: Situation): NextStep {
  const { me, now, record, servedSince, spread, validity } = situation;
  const { claim, failures } = record;
  const due = validity === undefined ? now : dueAt(validity, spread);
  const free = claim !== undefined && claim.by !== me ? near(claim.until, now) : now;
  const paused = near(failures?.notBefore ?? now, now);
  const served = (servedSince ?? Number.POSITIVE_INFINITY) + SETTLED_MS;
  const start = Math.max(due, free, served, paused);
  if (start <= now) return { kind: 'order' };
  const isDue = validity === undefined || now >= dueAt(validity, 0);
  const most = isDue && paused <= now ? LOOK_MS.near : LOOK_MS.far;
  return { kind: 'wait', ms: Math.min(start - now, most) };
}

/** Nothing is put off for longer. What is kept may be from a clock that was wrong. */
const MOST_MS = 90_000_000;

function near(time: number, now: number): number {
  return time - now > MOST_MS ? now : time;
}

/** No certificate is renewed sooner, however short its life is. */
const LEAST_MS = 10_000;

/** Two thirds of the life, and up to a twentieth of it later. */
function dueAt({ end, start }: Validity, spread: number): number {
  return start + Math.max((end - start) * (2 / 3 + spread / 20), LEAST_MS);
}

/** Returns how the name is proved next: as it was the last time, or as a failure has left it. */
export function nextChallenge({ failures, proved = 'http-01' }: AcmeRecord): ChallengeType {
  return failures?.next ?? proved;
}

/** Returns the other way of proving a name. */
export function otherChallenge(type: ChallengeType): ChallengeType {
  return CHALLENGES.find(each => each !== type) ?? type;
}
