import { connectRedis, type Redis, type RedisOptions } from '#redis/connect.ts';
import type { RedisDescription } from '#redis/description.ts';
import { askMemory, type RedisMemory } from '#redis/memory.ts';
import { counterKeyDigest } from './counter-key-digest.ts';
import {
  type CounterStore,
  type CounterStoreStatus,
  type Counts,
  type Hit,
  StoreUnavailable,
} from './counter-store.ts';
import { HitBatch, type KeyedHit } from './redis-counter-batch.ts';

export type RedisCounterStoreOptions = RedisOptions & {
  /**
   * Prefix of all keys in Redis. Default: `gateway:ratelimit:`. It has no braces, because in a
   * cluster they would decide the slot.
   */
  readonly prefix?: string;
};

/** The most hits that share a script call. */
const MAX_BATCH = 100;
const MAX_WAITING = 10_000;
/**
 * Counters of no limit, which show whether Redis counts. They have different slots, so a node of a
 * cluster that is taken for a whole Redis hardly counts all.
 */
const LOOKS: readonly Hit[] = ['one', 'another'].map(group => {
  return { counter: 'looked at', group, windowMs: 60_000, add: 1 };
});

/**
 * Opens a store on its own connection. See `connectRedis` and RedisCounterStore. It is usable at
 * once, and calls fail until it is connected.
 */
export function openRedisCounterStore(
  description: RedisDescription,
  options: RedisCounterStoreOptions,
): RedisCounterStore {
  return new RedisCounterStore(connectRedis(description, options), options);
}

/**
 * Keeps counters in Redis, shared by all services that count there. The clock of Redis decides the
 * window, and a counter ends with its window. Keys are `<prefix>{<SHA-256>}`, so nobody can read
 * there what clients sent. Requests of one turn of the event loop share a script call. In a cluster
 * only hits on the same key share one. Each call answers within the connection's `timeoutMs`.
 */
class RedisCounterStore implements CounterStore {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #maxWaiting: number;
  /** The batches of this turn. There is one, or in a cluster one for each key. */
  readonly #batches = new Map<string, HitBatch>();
  #waiting = 0;
  #flushing: NodeJS.Immediate | undefined;
  readonly #now: () => number;
  #memory: RedisMemory | undefined;
  #evictedAt: number | undefined;
  /** Why it did not count, once for each of the last two looks. A store may be slow once. */
  #faults: readonly [before: string | undefined, last: string | undefined] = [undefined, undefined];

  constructor(
    redis: Redis,
    options: Pick<RedisCounterStoreOptions, 'prefix' | 'maxWaiting' | 'now'>,
  ) {
    this.#redis = redis;
    this.#now = options.now;
    this.#prefix = options.prefix ?? 'gateway:ratelimit:';
    this.#maxWaiting = options.maxWaiting ?? MAX_WAITING;
  }

  count(hits: readonly Hit[]): Promise<Counts> {
    if (this.#waiting >= this.#maxWaiting)
      return Promise.reject(
        new StoreUnavailable('Redis: too many requests wait for their counters'),
      );
    this.#waiting += 1;
    const apart = this.#redis.clustered && hits.length > 0;
    const counted = apart ? this.#countApart(hits) : this.#countTogether(hits);
    return counted.finally(() => {
      this.#waiting -= 1;
    });
  }

  async reset(hits: readonly Hit[]): Promise<void> {
    const keys = hits.map(hit => this.#keyed(hit).key);
    await Promise.all(keys.map(key => this.#redis.send(key, ['DEL', key])));
  }

  status(): CounterStoreStatus {
    const [before, last] = this.#faults;
    const fault = before === undefined || last === undefined ? {} : { fault: last };
    const status = { ...this.#redis.status(), ...fault, waiting: this.#waiting };
    if (this.#memory === undefined) return status;
    const evicted =
      this.#evictedAt === undefined ? {} : { evictedAgoMs: this.#now() - this.#evictedAt };
    return { ...status, memory: { ...this.#memory, ...evicted } };
  }

  async look(): Promise<void> {
    const fault = await this.count(LOOKS).then(() => undefined, messageOf);
    this.#faults = [this.#faults[1], fault];
    const memory = await askMemory(this.#redis);
    if (memory === undefined) return;
    if (memory.evicted > (this.#memory?.evicted ?? memory.evicted)) this.#evictedAt = this.#now();
    this.#memory = memory;
  }

  async close(): Promise<void> {
    this.#flush();
    await this.#redis.close();
  }

  #countTogether(hits: readonly Hit[]): Promise<Counts> {
    return this.#batch('').add(hits.map(hit => this.#keyed(hit)));
  }

  /**
   * The nodes have clocks of their own. The earliest counts, so that no client waits for a window
   * that is yet to come.
   */
  async #countApart(hits: readonly Hit[]): Promise<Counts> {
    const parts = await Promise.all(
      hits.map(hit => {
        const keyed = this.#keyed(hit);
        return this.#batch(keyed.key).add([keyed]);
      }),
    );
    return {
      now: Math.min(...parts.map(({ now }) => now)),
      counts: parts.flatMap(({ counts }) => counts),
    };
  }

  #keyed({ add, counter, group, windowMs }: Hit): KeyedHit {
    return { key: `${this.#prefix}{${counterKeyDigest(counter + group)}}`, windowMs, add };
  }

  #batch(name: string): HitBatch {
    const open = this.#batches.get(name);
    if (open !== undefined && open.size < MAX_BATCH) return open;
    if (open !== undefined) open.send(this.#redis);
    const batch = new HitBatch();
    this.#batches.set(name, batch);
    this.#flushing ??= setImmediate(() => this.#flush());
    return batch;
  }

  #flush(): void {
    clearImmediate(this.#flushing);
    this.#flushing = undefined;
    for (const batch of this.#batches.values()) batch.send(this.#redis);
    this.#batches.clear();
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'it failed';
}
