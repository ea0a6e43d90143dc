import { connectRedis, type LinkEvent, type Redis, type RedisOptions } from '../connect.ts';
import { parseRedisAddress, type RedisDescription } from '../description.ts';
import { until } from './until.ts';

export function describeRedis(url: string): RedisDescription {
  const description = parseRedisAddress(url);
  if ('error' in description) throw new Error(description.error);
  return description;
}

export const OPTIONS: RedisOptions = {
  timeoutMs: 10_000,
  random: () => 0.5,
  now: () => performance.now(),
};

/** Connects without waiting for it, and closes when the test is over. */
export function openRedis(
  t: { readonly after: (run: () => Promise<void>) => void },
  to: string | RedisDescription,
  options: Partial<RedisOptions> = {},
): { readonly redis: Redis; readonly events: readonly LinkEvent[] } {
  const events: LinkEvent[] = [];
  const redis = connectRedis(typeof to === 'string' ? describeRedis(to) : to, {
    ...OPTIONS,
    onEvent: event => events.push(event),
    ...options,
  });
  t.after(redis.close);
  return { redis, events };
}

export async function openedRedis(...args: Parameters<typeof openRedis>): Promise<Redis> {
  const { redis } = openRedis(...args);
  await until('Redis is connected', () => redis.status().connected);
  return redis;
}
