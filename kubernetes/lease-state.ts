import type { KubernetesObject } from './kubernetes-object.ts';
import { isRecord } from './kubernetes-object.ts';

/** What a Lease says. Source: coordination.k8s.io/v1, LeaseSpec. */
export type LeaseSpec = {
  /** '': nobody. */
  readonly holderIdentity: string;
  readonly leaseDurationSeconds: number;
  readonly renewTime: string;
  readonly acquireTime: string;
  readonly leaseTransitions: number;
};

/**
 * A Lease as we have seen it, and when by our own clock we first saw it so: clocks of others are
 * never compared with ours.
 */
export type Observed = { readonly record: string; readonly atMs: number };

const NOBODY: LeaseSpec = {
  holderIdentity: '',
  leaseDurationSeconds: 1,
  renewTime: '',
  acquireTime: '',
  leaseTransitions: 0,
};

export function readLease({ spec }: KubernetesObject): LeaseSpec {
  const read = isRecord(spec) ? spec : {};
  const text = (value: unknown) => (typeof value === 'string' ? value : '');
  const number = (value: unknown, otherwise: number) =>
    typeof value === 'number' ? value : otherwise;
  return {
    holderIdentity: text(read.holderIdentity),
    leaseDurationSeconds: number(read.leaseDurationSeconds, NOBODY.leaseDurationSeconds),
    renewTime: text(read.renewTime),
    acquireTime: text(read.acquireTime),
    leaseTransitions: number(read.leaseTransitions, 0),
  };
}

/** The same observation where nothing has been renewed since, else a new one. */
export function observe(last: Observed | undefined, lease: LeaseSpec, nowMs: number): Observed {
  const record = JSON.stringify(lease);
  return last?.record === record ? last : { record, atMs: nowMs };
}

/**
 * Whether we may write ourselves into the Lease: it is ours, nobody's, or was not renewed for as
 * long as it lasts.
 */
export function mayTake(
  lease: LeaseSpec,
  observed: Observed,
  holder: string,
  nowMs: number,
): boolean {
  if (lease.holderIdentity === '' || lease.holderIdentity === holder) return true;
  return nowMs - observed.atMs > lease.leaseDurationSeconds * 1000;
}

/** The Lease as we write it when we take or renew it. `nowMs` is since the epoch. */
export function takenLease(
  lease: LeaseSpec | undefined,
  holder: string,
  durationSeconds: number,
  nowMs: number,
): LeaseSpec {
  const ours = lease?.holderIdentity === holder;
  const now = microTime(nowMs);
  return {
    holderIdentity: holder,
    leaseDurationSeconds: durationSeconds,
    renewTime: now,
    acquireTime: ours ? lease.acquireTime || now : now,
    leaseTransitions: lease === undefined ? 0 : lease.leaseTransitions + (ours ? 0 : 1),
  };
}

/** As it is left: whoever comes next may take it at once. */
export function releasedLease(lease: LeaseSpec, nowMs: number): LeaseSpec {
  return { ...lease, holderIdentity: '', leaseDurationSeconds: 1, renewTime: microTime(nowMs) };
}

/** The API's MicroTime has exactly six digits. */
function microTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z');
}
