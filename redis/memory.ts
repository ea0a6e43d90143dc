import type { Redis } from './connect.ts';

/** Operators are told when this part of the memory is used. */
const CROWDED = 0.8;

/** How much memory a Redis uses and may use, and what it does then. */
export type RedisMemory = {
  readonly usedBytes: number;
  /** 0 means no limit. */
  readonly maxBytes: number;
  /** Its maxmemory-policy. */
  readonly policy: string;
  /** Keys that it has evicted since it started. */
  readonly evicted: number;
};

/** Returns whether little is left of a Redis that may not use more. */
export function isCrowded({
  maxBytes,
  usedBytes,
}: Pick<RedisMemory, 'maxBytes' | 'usedBytes'>): boolean {
  return maxBytes > 0 && usedBytes >= maxBytes * CROWDED;
}

/**
 * @returns undefined of a cluster, because each of its nodes fills up by itself, and of a Redis
 * that does not allow INFO or does not answer
 */
export async function askMemory(redis: Redis): Promise<RedisMemory | undefined> {
  if (redis.clustered) return undefined;
  return readMemory(await redis.send('', ['INFO']).catch(() => undefined));
}

/**
 * Reads the answer to INFO.
 * @returns undefined when the sections "memory" and "stats" are not there
 */
export function readMemory(info: unknown): RedisMemory | undefined {
  if (typeof info !== 'string') return undefined;
  const field = (name: string) => new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1];
  const [used, max, policy, evicted] = [
    'used_memory',
    'maxmemory',
    'maxmemory_policy',
    'evicted_keys',
  ].map(field);
  if (used === undefined || policy === undefined) return undefined;
  return {
    usedBytes: Number(used),
    maxBytes: Number(max ?? 0),
    policy,
    evicted: Number(evicted ?? 0),
  };
}
