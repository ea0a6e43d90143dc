import type { Logger } from 'pino';
import { backOffMs } from '#kubernetes/back-off.ts';
import type { Cluster } from '#kubernetes/cluster.ts';
import { ClusterError } from '#kubernetes/cluster-error.ts';
import { patchObject, type Written } from '#kubernetes/write.ts';
import { WriteQueue } from '#kubernetes/write-queue.ts';
import { Timers } from '#process/timers.ts';
import type { ServedObject } from '#resources/kubernetes/served-object.ts';

/** Fields that the status of an object gets, or its metadata. Its other fields stay. */
export type StatusWrite = { readonly object: ServedObject; readonly status: object };

export type StatusWriterParts = {
  readonly cluster: Cluster;
  /** The part of an object that gets the fields. Default: its status. */
  readonly part?: 'status' | 'metadata';
  /** Returns the statuses that differ from what they should be now. */
  outdated(): readonly StatusWrite[];
  /** Called for every write, with its result. */
  wrote(result: Written['kind'] | 'failed'): void;
  readonly log: Logger;
  /** Milliseconds since the epoch. */
  now(): number;
  after(ms: number, callback: () => void): () => void;
  random(): number;
};

/** Statuses are compared after this quiet time, in ms. A state of a moment is not written. */
const QUIET_MS = 200;
const LONGEST_MS = 1_000;
/**
 * The same status is written to the same object again only after this time, in ms. Others may write
 * it too.
 */
const REPEAT_MS = 600_000;
/**
 * A write that is not allowed (403) is tried again after this time at most, in ms. The right may be
 * given at any time, and nothing tells of it.
 */
const MOST_REFUSED_MS = 60_000;

/**
 * The last write of an object, and when it may be repeated. `refusals` counts how often in a row it
 * was not allowed.
 */
type Sent = { readonly text: string; readonly again: number; readonly refusals: number };

/**
 * Writes the statuses that differ while it leads, as fast as the API takes them. Each is for the
 * version of the object that it was made for. A failed one is compared and tried again.
 */
export class StatusWriter {
  readonly #parts: StatusWriterParts;
  readonly #queue: WriteQueue<StatusWrite>;
  readonly #timers: Timers<'quiet' | 'longest' | 'retry'>;
  /** By uid. */
  #sent = new Map<string, Sent>();
  /** Why the status of a kind may not be written, by kind. */
  readonly #refused = new Map<string, string>();
  #leading = false;
  #conflicts = 0;
  #told: string | undefined;

  constructor(parts: StatusWriterParts) {
    this.#parts = parts;
    this.#timers = new Timers(parts.after);
    this.#queue = new WriteQueue({
      keyOf: ({ object }) => object.uid,
      write: write => this.#write(write),
      again: () => this.stir(),
      after: parts.after,
      random: parts.random,
    });
  }

  lead(leading: boolean): void {
    this.#leading = leading;
    this.#sent = new Map();
    this.#refused.clear();
    this.#queue.clear();
    this.#timers.cancelAll();
    if (leading) this.stir();
  }

  /** Returns why statuses may not be written, for one object of each kind. */
  refusals(): readonly string[] {
    return [...this.#refused.values()];
  }

  /** Called when something may have changed. */
  stir(): void {
    if (!this.#leading) return;
    this.#timers.cancel('quiet');
    this.#timers.start('quiet', QUIET_MS, () => this.#compare());
    this.#timers.start('longest', LONGEST_MS, () => this.#compare());
  }

  #compare(): void {
    this.#timers.cancel('quiet', 'longest');
    const { outdated, now } = this.#parts;
    const writes = outdated();
    const waits = writes.map(({ object, status }) => {
      const sent = this.#sent.get(object.uid);
      return sent?.text === JSON.stringify(status) ? sent : undefined;
    });
    const left = waits.map(sent => (sent === undefined ? 0 : sent.again - now()));
    this.#queue.set(writes.filter((_, at) => (left[at] ?? 0) <= 0));
    const refused = left.filter((ms, at) => ms > 0 && (waits[at]?.refusals ?? 0) > 0);
    if (refused.length > 0) this.#retryIn(Math.min(...refused));
  }

  async #write({ object, status }: StatusWrite): Promise<number | undefined> {
    const { uid, name, resourceVersion, collection } = object;
    const { cluster, part = 'status', wrote } = this.#parts;
    const version = { uid, resourceVersion };
    const target = { cluster, resource: collection };
    try {
      const written = await (part === 'status'
        ? patchObject({ ...target, part }, name, { metadata: version, status })
        : patchObject(target, name, { metadata: { ...version, ...status } }));
      this.#ended(object, status, written);
      return undefined;
    } catch (error) {
      if (!(error instanceof ClusterError)) throw error;
      wrote('failed');
      this.#tell(error.message);
      return error.retryAfterMs ?? 0;
    }
  }

  #ended({ uid, collection }: ServedObject, status: object, written: Written): void {
    const { now, wrote } = this.#parts;
    wrote(written.kind);
    if (written.kind === 'conflict') this.#conflicted();
    if (written.kind === 'conflict' || written.kind === 'missing') return;
    const text = JSON.stringify(status);
    if (written.kind === 'refused' && written.status === 403) {
      const refusals = (this.#sent.get(uid)?.refusals ?? 0) + 1;
      const wait = Math.min(1_000 * 2 ** Math.min(refusals - 1, 10), MOST_REFUSED_MS);
      this.#sent.set(uid, { text, again: now() + wait, refusals });
      this.#retryIn(wait);
      // Each message names another object.
      if (this.#refused.has(collection.plural)) return;
      this.#tell(written.message);
      this.#refused.set(collection.plural, written.message);
      return;
    }
    this.#sent.set(uid, { text, again: now() + REPEAT_MS, refusals: 0 });
    if (written.kind === 'refused') this.#tell(written.message);
    else this.#allowed(collection.plural);
  }

  #allowed(plural: string): void {
    this.#conflicts = 0;
    this.#refused.delete(plural);
  }

  /** A newer version of the object is on its way. */
  #conflicted(): void {
    this.#conflicts += 1;
    this.#retryIn(backOffMs(this.#conflicts, this.#parts.random()));
  }

  #retryIn(ms: number): void {
    if (this.#leading) this.#timers.start('retry', ms, () => this.stir());
  }

  #tell(message: string): void {
    if (message === this.#told) return;
    this.#told = message;
    const { log, part = 'status' } = this.#parts;
    log.warn(`cannot write the ${part} of resources: ${message}`);
  }
}
