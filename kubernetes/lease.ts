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
  /** Of the Lease. */
  readonly name: string;
  /** Who we are: another one for each process, the name of a pod for example. */
  readonly holder: string;
  /**
   * Hears `true` when we lead and `false` when we no longer do: at the latest before anybody else
   * may.
   */
  onLeading(leading: boolean): void;
  /**
   * The Lease cannot be read or written; it is tried again. `repeated`: the same as the last time.
   */
  onTrouble?(error: ClusterError, repeated: boolean): void;
  /** Milliseconds since the epoch. */
  now(): number;
  readonly after: After;
  random(): number;
  /** How long a holder that has vanished still counts; default 15 s. */
  readonly durationSeconds?: number;
};

export type Leading = {
  /**
   * Stops, and gives the Lease up if we hold it, so that another can lead at once. Never rejects.
   */
  close(): Promise<void>;
};

const DURATION_SECONDS = 15;
const RESOURCE = { group: 'coordination.k8s.io', version: 'v1', plural: 'leases' };

/**
 * Leads while it holds a Lease: of all who call this with one name at most one leads, as long as
 * their clocks run equally fast (to 1 in 3). It renews each fifth of the duration, and stops
 * leading at two thirds when it could not. Every write names the version that was read, so of two
 * who take an expired Lease one gets a conflict. Source: coordination.k8s.io/v1 Lease, client-go's
 * leaderelection.
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

  /** Takes or renews the Lease if that may be. */
  async tryOnce(): Promise<void> {
    try {
      await this.#try();
      this.#told = undefined;
    } catch (error) {
      if (!(error instanceof ClusterError)) throw error;
      this.#options.onTrouble?.(error, error.message === this.#told);
      this.#told = error.message;
      // Whether a write that failed has been done is only known when it is read again.
      this.#object = undefined;
    }
  }

  /** Gives up a Lease that we hold. */
  async release(): Promise<void> {
    const held = this.#leading;
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
    const { name, holder, now, durationSeconds = DURATION_SECONDS } = this.#options;
    this.#object ??= await getObject(this.#target, name);
    const lease = this.#object && readLease(this.#object);
    if (lease !== undefined) {
      this.#observed = observe(this.#observed, lease, now());
      if (!mayTake(lease, this.#observed, holder, now())) return this.#standBy(lease);
    }
    // The deadline counts from before the write: others may count from when they see it.
    const deadline = now() + (durationSeconds * 2000) / 3;
    const written = await this.#write(takenLease(lease, holder, durationSeconds, now()));
    this.#object = written.kind === 'written' ? written.object : undefined;
    if (written.kind === 'written') this.#hold(deadline - now());
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

  /** Somebody else holds it; what he does next must be read. */
  #standBy({ holderIdentity }: LeaseSpec): void {
    this.#object = undefined;
    if (holderIdentity !== this.#options.holder) this.#lose();
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
