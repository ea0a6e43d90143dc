import type { Logger } from 'pino';
import { backOffMs } from '#kubernetes/back-off.ts';
import type { Cluster } from '#kubernetes/cluster.ts';
import { ClusterError } from '#kubernetes/cluster-error.ts';
import { patchObject, type Written } from '#kubernetes/write.ts';
import type { ServedObject } from '#resources/kubernetes/served-object.ts';

/** Fields that the status of an object gets. Its other fields stay. */
export type StatusWrite = { readonly object: ServedObject; readonly status: object };

export type StatusWriterParts = {
  readonly cluster: Cluster;
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
/** One write in this many ms, and at most this many at a time. */
const PACE_MS = 20;
const AT_ONCE = 4;
/**
 * The same status is written to the same object again only after this time, in ms. Others may write
 * it too.
 */
const REPEAT_MS = 600_000;

/**
 * Writes the statuses that differ while it leads, at most 50 a second. Each is for the version of
 * the object that it was made for. A failed one is compared and tried again.
 */
export class StatusWriter {
  readonly #parts: StatusWriterParts;
  readonly #timers = new Map<'quiet' | 'longest' | 'pace' | 'retry', () => void>();
  /** By uid: the last write, and its time. */
  #sent = new Map<string, { readonly text: string; readonly at: number }>();
  #waiting: readonly StatusWrite[] = [];
  readonly #underWay = new Set<string>();
  #leading = false;
  #failures = 0;
  #told: string | undefined;

  constructor(parts: StatusWriterParts) {
    this.#parts = parts;
  }

  lead(leading: boolean): void {
    this.#leading = leading;
    this.#sent = new Map();
    this.#waiting = [];
    for (const timer of this.#timers.keys()) this.#cancel(timer);
    if (leading) this.stir();
  }

  /** Called when something may have changed. */
  stir(): void {
    if (!this.#leading) return;
    this.#cancel('quiet');
    this.#callIn('quiet', QUIET_MS, () => this.#compare());
    this.#callIn('longest', LONGEST_MS, () => this.#compare());
  }

  #compare(): void {
    this.#cancel('quiet');
    this.#cancel('longest');
    const { outdated, now } = this.#parts;
    const news = (write: StatusWrite) => {
      const sent = this.#sent.get(write.object.uid);
      return sent?.text !== JSON.stringify(write.status) || now() - sent.at > REPEAT_MS;
    };
    this.#waiting = outdated().filter(news);
    this.#proceed();
  }

  #proceed(): void {
    if (this.#waiting.length === 0 || this.#timers.has('pace') || this.#underWay.size >= AT_ONCE)
      return;
    const next = this.#waiting.find(({ object }) => !this.#underWay.has(object.uid));
    if (next === undefined) return;
    this.#waiting = this.#waiting.filter(write => write !== next);
    void this.#write(next);
    this.#callIn('pace', PACE_MS, () => this.#proceed());
  }

  async #write({ object, status }: StatusWrite): Promise<void> {
    const { uid, name, resourceVersion, collection } = object;
    this.#underWay.add(uid);
    try {
      const target = {
        cluster: this.#parts.cluster,
        resource: collection,
        part: 'status',
      } as const;
      const written = await patchObject(target, name, {
        metadata: { uid, resourceVersion },
        status,
      });
      this.#ended(uid, status, written);
    } catch (error) {
      if (!(error instanceof ClusterError)) throw error;
      this.#failed(error.message, 'failed');
    }
    this.#underWay.delete(uid);
    this.#proceed();
  }

  #ended(uid: string, status: object, written: Written): void {
    if (written.kind === 'conflict') {
      this.#failed(written.message, 'conflict');
      return;
    }
    this.#parts.wrote(written.kind);
    if (written.kind === 'missing') return;
    this.#sent.set(uid, { text: JSON.stringify(status), at: this.#parts.now() });
    if (written.kind === 'refused') this.#tell(written.message);
    else this.#failures = 0;
  }

  /** A conflict means that a newer version is on its way. It needs no log line. */
  #failed(message: string, result: 'conflict' | 'failed'): void {
    this.#parts.wrote(result);
    if (result === 'failed') this.#tell(message);
    this.#failures += 1;
    this.#callIn('retry', backOffMs(this.#failures, this.#parts.random()), () => this.stir());
  }

  #tell(message: string): void {
    if (message === this.#told) return;
    this.#told = message;
    this.#parts.log.warn(`cannot write the status of resources: ${message}`);
  }

  #callIn(timer: 'quiet' | 'longest' | 'pace' | 'retry', ms: number, callback: () => void): void {
    if (!this.#leading || this.#timers.has(timer)) return;
    const run = () => {
      this.#timers.delete(timer);
      callback();
    };
    this.#timers.set(timer, this.#parts.after(ms, run));
  }

  #cancel(timer: 'quiet' | 'longest' | 'pace' | 'retry'): void {
    this.#timers.get(timer)?.();
    this.#timers.delete(timer);
  }
}
