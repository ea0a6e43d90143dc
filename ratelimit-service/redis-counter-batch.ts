import type { Redis, Reply } from '#redis/connect.ts';
import { type Counts, type Hit, StoreUnavailable } from './counter-store.ts';
import { COUNT_HITS } from './redis-counter-script.ts';

type Request = {
  readonly from: number;
  readonly to: number;
  readonly resolve: (counts: Counts) => void;
  readonly reject: (error: StoreUnavailable) => void;
};

/** A hit on a key of Redis. */
export type KeyedHit = Pick<Hit, 'windowMs' | 'add'> & { readonly key: string };

/** Hits of several requests, counted in one call of the script. */
export class HitBatch {
  readonly #keys: string[] = [];
  readonly #args: string[] = [];
  readonly #requests: Request[] = [];

  /** The number of hits so far. */
  get size(): number {
    return this.#keys.length;
  }

  /** Adds the hits of one request. Resolves with their counts once the batch was sent. */
  add(hits: readonly KeyedHit[]): Promise<Counts> {
    const from = this.#keys.length;
    for (const { add, key, windowMs } of hits) {
      this.#keys.push(key);
      this.#args.push(String(windowMs), String(Math.min(add, Number.MAX_SAFE_INTEGER)));
    }
    const to = this.#keys.length;
    return new Promise((resolve, reject) => this.#requests.push({ from, to, resolve, reject }));
  }

  send(redis: Pick<Redis, 'run'>): void {
    redis.run(COUNT_HITS, this.#keys, this.#args).then(
      reply => this.#answer(reply),
      error => this.#refuse(error),
    );
  }

  #answer(reply: Reply): void {
    if (isNumbers(reply) && reply.length === this.#keys.length + 1) {
      const [now = 0] = reply;
      for (const { from, resolve, to } of this.#requests)
        resolve({ now, counts: reply.slice(from + 1, to + 1).map(saturated) });
    } else this.#refuse(new StoreUnavailable('Redis: an answer that is none of our script'));
  }

  #refuse(error: unknown): void {
    const refusal = new StoreUnavailable(error instanceof Error ? error.message : 'Redis failed');
    for (const { reject } of this.#requests) reject(refusal);
  }
}

/** The library may read a number next to 2^53 as the one above it. */
function saturated(count: number): number {
  return Math.min(count, Number.MAX_SAFE_INTEGER);
}

function isNumbers(reply: Reply): reply is readonly number[] {
  return Array.isArray(reply) && reply.every(item => typeof item === 'number');
}
