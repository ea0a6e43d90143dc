import { readFileSync } from 'node:fs';
import {
  type Environment,
  parseAddress,
  parseInteger,
  parseLogLevel,
  variablesOf,
} from '#process/environment.ts';
import type { HostPort } from '#protos/host-port.ts';
import type { RedisDescription } from '#redis/description.ts';
import { readRedis } from '#redis/read-redis.ts';

export type Config = {
  readonly address: HostPort;
  /** The control plane, which sends the limits. */
  readonly xds: HostPort;
  /** Where counters are shared by several replicas; undefined: this process counts by itself. Holds secrets. */
  readonly redis: RedisDescription | undefined;
  /** A store that does not answer within this time, in ms, is taken for dead. */
  readonly storeTimeoutMs: number;
  /** The most counters that this process keeps in its own memory. */
  readonly maxCounters: number;
  /** The folder with the service's identity: then both addresses speak mutual TLS. */
  readonly tlsFolder: string | undefined;
  /** Where probes and monitoring are answered besides, in plain HTTP. */
  readonly http: HostPort | undefined;
  readonly logLevel: string;
};

/**
 * The configuration in ADDRESS (127.0.0.1:18002), XDS_ADDRESS (127.0.0.1:18000), REDIS_URL and the other REDIS_ variables (see `readRedis`; none:
 * counters in memory), STORE_TIMEOUT_MS (10: half of the `timeout_ms` that proxies wait by default), MAX_COUNTERS (500000),
 * TLS_FOLDER (none: no TLS), HTTP_ADDRESS (none) and LOG_LEVEL (info).
 * An empty variable is one that is not set. Throws an Error that names the variable and what it should be.
 */
export function readConfig(env: Environment, readFile = readText): Config {
  const text = variablesOf(env);
  const address = (name: string, otherwise: string) => parseAddress(name, text(name, otherwise));
  const integer = (name: string, otherwise: number, most: number) =>
    parseInteger(name, text(name, String(otherwise)), most);
  return {
    address: address('ADDRESS', '127.0.0.1:18002'),
    xds: address('XDS_ADDRESS', '127.0.0.1:18000'),
    redis: redisOf(env, readFile),
    storeTimeoutMs: integer('STORE_TIMEOUT_MS', 10, 60_000),
    maxCounters: integer('MAX_COUNTERS', 500_000, 16_000_000),
    tlsFolder: text('TLS_FOLDER', '') || undefined,
    http: text('HTTP_ADDRESS', '') === '' ? undefined : address('HTTP_ADDRESS', ''),
    logLevel: parseLogLevel(text('LOG_LEVEL', 'info')),
  };
}

function redisOf(env: Environment, readFile: (path: string) => string): RedisDescription | undefined {
  const redis = readRedis(env, readFile);
  if (redis !== undefined && 'error' in redis) throw new Error(redis.error);
  return redis;
}

function readText(path: string): string {
  return readFileSync(path, 'utf8');
}
