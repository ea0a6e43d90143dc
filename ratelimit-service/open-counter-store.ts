import type { Logger } from 'pino';
import type { LinkEvent } from '#redis/connect.ts';
import type { Config } from './config.ts';
import type { CounterStore } from './counter-store.ts';
import { MemoryCounterStore } from './memory-counter-store.ts';

export type StoreParts = {
  readonly log: Logger;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds that never go back. */
  uptime(): number;
  /** A number in [0, 1). */
  random(): number;
};

/** Opens the counters that the configuration asks for, in this process or in Redis. */
export async function openCounterStore(
  config: Config,
  { log, now, random, uptime }: StoreParts,
): Promise<CounterStore> {
  if (config.redis === undefined)
    return new MemoryCounterStore({ maxKeys: config.maxCounters, now });
  const onEvent = (event: LinkEvent) => {
    if (event.connected) log.info({ redis: event.address }, 'Redis is connected');
    else log.error({ redis: event.address, reason: event.reason }, 'Redis is not connected');
  };
  // Its client has 478 modules, a third of those of the service. Most do not use it.
  const { openRedisCounterStore } = await import('./redis-counter-store.ts');
  return openRedisCounterStore(config.redis, {
    timeoutMs: config.storeTimeoutMs,
    now: uptime,
    random,
    onEvent,
  });
}
