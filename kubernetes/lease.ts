import type { After } from '#process/after.ts';
import type { Cluster } from './cluster.ts';
import { ClusterError } from './cluster-error.ts';
import type { KubernetesObject } from './kubernetes-object.ts';
import {
  type LeaseSpec,
  mayTake,
  type Observed,
  observe,
  readLease,
  releasedLease,
  takenLease,
} from './lease-state.ts';
import { pause } from './pause.ts';
import { createObject, getObject, updateObject } from './write.ts';

export type LeadOptions = {
  readonly cluster: Cluster;
  readonly namespace: string;
  /** Name of the Lease. */
  readonly name: string;
  /** Identity of this process, for example the name of its pod. Each process needs another one. */
  readonly holder: string;
  /**
   * Receives `true` when this process leads and `false` when it no longer does. `false` comes
   * before another process may lead.
   */
  onLeading(leading: boolean): void;
  /** Called each time that another process is found to hold the Lease. */
  onOther?(): void;
  /** While it returns true, this process leaves the Lease to others. Default: false. */
  yields?(): boolean;
  /**
   * Called when the Lease cannot be read or written. It is retried. `repeated` means the same error
   * as the last time.
   */
  onTrouble?(error: ClusterError, repeated: boolean): void;
  /** Called each time that the Lease could be read, and written where that was due. */
  onSuccess?(): void;
  /** Milliseconds since the epoch, for others to read. It may be set meanwhile. */
  now(): number;
  readonly after: After;
  random(): number;
  /** How long a vanished holder still counts, up to 60 s. Default: 15 s. */
  readonly durationSeconds?: number;
};

export type Leading = {
  /** Stops, and releases a held Lease, so that another process can lead at once. Never rejects. */
  close(): Promise<void>;
};

const DURATION_SECONDS = 15;
const RESOURCE = { group: 'coordination.k8s.io', version: 'v1', plural: 'leases' };

/**
 * Leads while it holds a Lease. Of all processes that use one name at most one leads, as long as
 * their clocks run equally fast (to 1 in 3). It renews at each fifth of the duration. It stops
 * leading at two thirds when it could not renew. Every write names the version that was read. So of
 * two processes that take an expired Lease one gets a conflict.
 * See coordination.k8s.io/v1 Lease and client-go's leaderelection.
 */
export function lead(options: LeadOptions): Leading {
  const closed = new AbortController();
  const candidate = new Candidate(options);
  const ended = run(options, candidate, closed.signal);
  return {
    async close() {
      closed.abort();
      await ended;
      await candidate.release();
    },
  };
}

async function run(options: LeadOptions, candidate: Candidate, closed: AbortSignal): Promise<void> {
  const { after, random, durationSeconds = DURATION_SECONDS } = options;
  while (!closed.aborted) {
    await candidate.tryOnce();
    await pause(after, durationSeconds * 200 * (0.8 + 0.2 * random()), closed);
  }
}

class Candidate {
  readonly #options: LeadOptions;
  readonly #target;
  #object: KubernetesObject | undefined;
  #observed: Observed | undefined;
  #leading = false;
  #cancelDeadline = () => {};
  #told: string | undefined;

  constructor(options: LeadOptions) {
    this.#options = options;
    const { cluster, namespace } = options;
    this.#target = { cluster, resource: { ...RESOURCE, namespace } };
  }

  /** Takes or renews the Lease if that is allowed. */
  async tryOnce(): Promise<void> {
    try {
      if (this.#leading && this.#options.yields?.() === true) await this.release();
      else await this.#try();
      this.#told = undefined;
      this.#options.onSuccess?.();
    } catch (error) {
      if (!(error instanceof ClusterError)) throw error;
      this.#options.onTrouble?.(error, error.message === this.#told);
      this.#told = error.message;
      // Only the next read shows whether a failed write was done.
      this.#object = undefined;
    }
  }

  /** Releases a Lease that this process holds. */
  async release(): Promise<void> {
    const held = this.#leading;
    this.#object = undefined;
    this.#lose();
    if (!held) return;
    try {
      const object = await getObject(this.#target, this.#options.name);
      const lease = object && readLease(object);
      if (object === undefined || lease?.holderIdentity !== this.#options.holder) return;
      await updateObject(this.#target, {
        ...object,
        spec: releasedLease(lease, this.#options.now()),
      });
    } catch (error) {
      if (!(error instanceof ClusterError)) throw error;
      this.#options.onTrouble?.(error, false);
    }
  }

  async #try(): Promise<void> {
    const { name, holder, now, yields, durationSeconds = DURATION_SECONDS } = this.#options;
    this.#object ??= await getObject(this.#target, name);
    const lease = this.#object && readLease(this.#object);
    if (lease !== undefined) {
      this.#observed = observe(this.#observed, lease, performance.now());
      if (!mayTake(lease, this.#observed, holder, performance.now())) {
        this.#options.onOther?.();
        return this.#standBy();
      }
    }
    if (yields?.() === true) return this.#standBy();
    // The deadline counts from before the write. Other processes may count from when they see it.
    const deadline = performance.now() + (durationSeconds * 2000) / 3;
    const written = await this.#write(takenLease(lease, holder, durationSeconds, now()));
    this.#object = written.kind === 'written' ? written.object : undefined;
    if (written.kind === 'written') this.#hold(deadline - performance.now());
    else if (written.kind !== 'conflict')
      throw new ClusterError(`The Lease ${name} cannot be written: ${written.message}`);
  }

  #write(spec: LeaseSpec) {
    const { name, namespace } = this.#options;
    if (this.#object !== undefined) return updateObject(this.#target, { ...this.#object, spec });
    const made = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name, namespace },
      spec,
    };
    return createObject(this.#target, made);
  }

  /** The Lease is another process's. Its next change must be read. */
  #standBy(): void {
    this.#object = undefined;
    this.#lose();
  }

  #hold(ms: number): void {
    this.#cancelDeadline();
    this.#cancelDeadline = this.#options.after(Math.max(ms, 0), () => this.#lose());
    if (this.#leading) return;
    this.#leading = true;
    this.#options.onLeading(true);
  }

  #lose(): void {
    this.#cancelDeadline();
    if (!this.#leading) return;
    this.#leading = false;
    this.#options.onLeading(false);
  }
}
