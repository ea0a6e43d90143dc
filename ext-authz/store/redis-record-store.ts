import type { Traces } from '#process/traces/traces.ts';
import { connectRedis, type Redis, type RedisOptions, type Reply } from '#redis/connect.ts';
import type { RedisDescription } from '#redis/description.ts';
import { askMemory, type RedisMemory } from '#redis/memory.ts';
import type { Script } from '#redis/script.ts';
import { groupDigest } from './group-digest.ts';
import {
  type RecordGroup,
  type RecordStore,
  type StoredRecord,
  StoreUnavailable,
  wholeAdd,
  wholeMs,
} from './record-store.ts';
import { recordVersions } from './record-version.ts';
import { COUNT, JOIN, MAKE, PUT_OUT, RELEASE, REPLACE, TAKE } from './redis-record-scripts.ts';
import {
  beginOfVersion,
  type RecordText,
  readRecordText,
  toBase64,
  writeRecordText,
} from './redis-record-text.ts';
import { tracedRedis } from './traced-redis.ts';

/**
 * How many records a joining one evicts from a group. It is more than one only after `most` was
 * lowered.
 */
const PUT_OUT_AT_ONCE = 4;
/**
 * How many records of a group are removed at once. Thousands would keep other calls waiting until
 * the connection counts as dead.
 */
const REMOVED_AT_ONCE = 100;
/**
 * How long a record that was evicted before it was made can no longer be made. It is longer than
 * any call takes.
 */
const UNMADE_MS = 10_000;
/** What MAKE returns in that case. */
const PUT_OUT_BEFORE = 2;
const NOTHING = new Uint8Array();

/**
 * Opens a store on a connection of its own. See `connectRedis` and RedisRecordStore. It is usable
 * at once, and refuses calls until it is connected.
 */
export function openRedisRecordStore(
  description: RedisDescription,
  options: RedisOptions & { readonly prefix?: string; readonly traces?: Traces | undefined },
): RedisRecordStore {
  const redis = tracedRedis(connectRedis(description, options), options.traces);
  return new RedisRecordStore(redis, options.prefix);
}

/**
 * Records in Redis or Valkey, which all users of the same server share. The server's clock ends
 * them. A method is one round trip on one key, which answers within the connection's
 * `timeoutMs`. Two methods take two round trips, and so twice the time. They are a `read` that
 * knows another version than there is, and a `create` with groups. `removeGroup` takes one for each
 * hundred records. The list of a group is a key of its own, perhaps on another node of a cluster.
 *
 * A record joins its groups first. Then it is made, while those that it evicted are removed. A
 * failure in between leaves a place without a record, which is bounded as any other. It never
 * leaves a record outside of its groups. A failover of Redis may lose the last writes, because its
 * replicas lag.
 */
export class RedisRecordStore implements RecordStore {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #nextVersion = recordVersions();

  /**
   * `prefix` begins all keys in Redis. It has no braces, which would decide the slot in a cluster.
   */
  constructor(redis: Redis, prefix = 'gateway:ext-authz:') {
    this.#redis = redis;
    this.#prefix = prefix;
  }

  async read(key: string, known?: string): Promise<StoredRecord | undefined> {
    const name = this.#recordKey(key);
    if (known !== undefined && (await this.#isOfVersion(name, known)))
      return { value: NOTHING, version: known };
    const record = readRecordText(await this.#send(name, ['GET', name]));
    return record && { value: record.value, version: record.version };
  }

  /** Asks for the beginning of a record only. Its value is a hundred times as long. */
  async #isOfVersion(name: string, version: string): Promise<boolean> {
    const begin = beginOfVersion(version);
    return (await this.#send(name, ['GETRANGE', name, '0', String(begin.length - 1)])) === begin;
  }

  async create(
    key: string,
    value: Uint8Array,
    ttlMs: number,
    groups: readonly RecordGroup[] = [],
  ): Promise<boolean> {
    const ttl = wholeMs(ttlMs);
    const record = {
      version: this.#nextVersion(),
      groups: groups.map(({ name }) => groupDigest(name)),
      value,
    };
    const putOut = await this.#joinAll(groups, key, ttl);
    const [made] = await Promise.all([this.#make(key, record, ttl), this.#putOut(putOut)]);
    return made;
  }

  async replace(
    key: string,
    version: string,
    value: Uint8Array,
    ttlMs: number,
    groups: readonly RecordGroup[] = [],
  ): Promise<boolean> {
    const ttl = wholeMs(ttlMs);
    await this.#putOut(await this.#joinAll(groups, key, ttl));
    const args = [version, this.#nextVersion(), toBase64(value), String(ttl)];
    return (await this.#run(REPLACE, this.#recordKey(key), args)) === 1;
  }

  async members(name: string, most: number): Promise<readonly string[]> {
    const list = this.#groupKey(groupDigest(name));
    const last = String(Math.max(1, Math.trunc(most)) - 1);
    const keys = await this.#send(list, ['ZREVRANGE', list, '0', last]);
    return Array.isArray(keys) ? keys.map(String) : [];
  }

  async take(key: string): Promise<Uint8Array | undefined> {
    return (await this.#remove(TAKE, key))?.value;
  }

  async remove(key: string): Promise<boolean> {
    return (await this.#remove(TAKE, key)) !== undefined;
  }

  /** One that has joined and is not made yet can no longer be made. */
  async removeGroup(name: string): Promise<number> {
    const group = this.#groupKey(groupDigest(name));
    const listed = await this.#send(group, ['ZRANGE', group, '0', '-1']);
    const keys = Array.isArray(listed) ? listed.map(String) : [];
    let removed = 0;
    for (let at = 0; at < keys.length; at += REMOVED_AT_ONCE) {
      const found = await this.#putOut(keys.slice(at, at + REMOVED_AT_ONCE));
      removed += found.filter(record => record !== undefined).length;
    }
    return removed;
  }

  async acquire(key: string, holder: string, ttlMs: number): Promise<boolean> {
    const name = this.#leaseKey(key);
    return (
      (await this.#send(name, ['SET', name, holder, 'NX', 'PX', String(wholeMs(ttlMs))])) === 'OK'
    );
  }

  async release(key: string, holder: string): Promise<void> {
    await this.#run(RELEASE, this.#leaseKey(key), [holder]);
  }

  async count(key: string, add: number, windowMs: number): Promise<number> {
    const name = this.#counterKey(key);
    const [more, window] = [wholeAdd(add), wholeMs(windowMs)];
    if (more === 0) return Number((await this.#send(name, ['GET', name])) ?? 0);
    return Number(await this.#run(COUNT, name, [String(more), String(window)]));
  }

  async windowLeft(key: string, windowMs: number): Promise<number> {
    const name = this.#counterKey(key);
    return Math.min(Math.max(0, Number(await this.#send(name, ['PTTL', name]))), wholeMs(windowMs));
  }

  unreached(): string | undefined {
    const { connected, reason = 'not connected' } = this.#redis.status();
    return connected ? undefined : `Redis: ${reason}`;
  }

  memory(): Promise<RedisMemory | undefined> {
    return askMemory(this.#redis);
  }

  async close(): Promise<void> {
    await this.#redis.close();
  }

  #recordKey(key: string): string {
    return `${this.#prefix}record:${key}`;
  }

  #leaseKey(key: string): string {
    return `${this.#prefix}lease:${key}`;
  }

  #counterKey(key: string): string {
    return `${this.#prefix}counter:${key}`;
  }

  #groupKey(digest: string): string {
    return `${this.#prefix}group:${digest}`;
  }

  /**
   * Returns true also when it was evicted already, because others have filled a group meanwhile.
   */
  async #make(key: string, record: RecordText, ttl: number): Promise<boolean> {
    const made = await this.#run(MAKE, this.#recordKey(key), [
      writeRecordText(record),
      String(ttl),
    ]);
    if (made === PUT_OUT_BEFORE) this.#leave(key, record.groups);
    return made === 1 || made === PUT_OUT_BEFORE;
  }

  /** Returns the keys of those that were evicted. */
  async #joinAll(
    groups: readonly RecordGroup[],
    key: string,
    ttl: number,
  ): Promise<readonly string[]> {
    const out = groups.map(({ most, name }) => this.#join(groupDigest(name), key, most, ttl));
    return (await Promise.all(out)).flat();
  }

  #putOut(keys: readonly string[]): Promise<readonly (RecordText | undefined)[]> {
    return Promise.all(keys.map(key => this.#remove(PUT_OUT, key, [String(UNMADE_MS)])));
  }

  async #join(digest: string, key: string, most: number, ttl: number): Promise<readonly string[]> {
    const args = [key, String(Math.max(1, Math.trunc(most))), String(ttl), String(PUT_OUT_AT_ONCE)];
    const out = await this.#run(JOIN, this.#groupKey(digest), args);
    return Array.isArray(out) ? out.map(String) : [];
  }

  async #remove(
    how: Script,
    key: string,
    args: readonly string[] = [],
  ): Promise<RecordText | undefined> {
    const record = readRecordText(await this.#run(how, this.#recordKey(key), args));
    if (record !== undefined) this.#leave(key, record.groups);
    return record;
  }

  /**
   * Runs without the caller waiting for it. If it fails, the places are free when older ones have
   * gone.
   */
  #leave(key: string, groups: readonly string[]): void {
    for (const digest of groups) {
      const name = this.#groupKey(digest);
      this.#send(name, ['ZREM', name, key]).catch(() => {});
    }
  }

  #send(key: string, args: readonly string[]): Promise<Reply> {
    return this.#redis.send(key, args).catch(refuse);
  }

  #run(script: Script, key: string, args: readonly string[]): Promise<Reply> {
    return this.#redis.run(script, [key], args).catch(refuse);
  }
}

function refuse(error: unknown): never {
  throw new StoreUnavailable(error instanceof Error ? error.message : 'Redis failed');
}
