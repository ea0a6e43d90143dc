import type { KubernetesObject } from './kubernetes-object.ts';
import { isRecord } from './kubernetes-object.ts';

/** The content of a Lease. See the Kubernetes API, coordination.k8s.io/v1 LeaseSpec. */
export type LeaseSpec = {
  /** '' when no process holds it. */
  readonly holderIdentity: string;
  readonly leaseDurationSeconds: number;
  readonly renewTime: string;
  readonly acquireTime: string;
  readonly leaseTransitions: number;
};

/**
 * A Lease as it was read, and when this process first saw it so, by a clock of its own that nobody
 * sets. Clocks of different machines are never compared.
 */
export type Observed = { readonly record: string; readonly atMs: number };

/**
 * A longer duration was written by hand. A holder stops by the shorter one that it asks for. So it
 * leads no more when it has not renewed for this time.
 */
const LONGEST_SECONDS = 60;

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

/** Returns the same observation when nothing was renewed since, else a new one. */
export function observe(last: Observed | undefined, lease: LeaseSpec, nowMs: number): Observed {
  const record = JSON.stringify(lease);
  return last?.record === record ? last : { record, atMs: nowMs };
}

/**
 * Whether this process may take the Lease. It may when it holds it, when it is free, or when it was
 * not renewed for its duration, which counts as a minute at most.
 */
export function mayTake(
  lease: LeaseSpec,
  observed: Observed,
  holder: string,
  nowMs: number,
): boolean {
  if (lease.holderIdentity === '' || lease.holderIdentity === holder) return true;
  const seconds = Math.min(lease.leaseDurationSeconds, LONGEST_SECONDS);
  return nowMs - observed.atMs > seconds * 1000;
}

/** Returns the Lease to write when it is taken or renewed. `nowMs` is since the epoch. */
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

/** Returns the released Lease. The next process may take it at once. */
export function releasedLease(lease: LeaseSpec, nowMs: number): LeaseSpec {
  return { ...lease, holderIdentity: '', leaseDurationSeconds: 1, renewTime: microTime(nowMs) };
}

/** The API's MicroTime has exactly six digits. */
function microTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z');
}
