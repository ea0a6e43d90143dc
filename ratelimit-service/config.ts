import { readFileSync } from 'node:fs';
import {
  type DecisionConfig,
  readDecisionConfig,
  workersByDefault,
} from '#process/decision-config.ts';
import { type Environment, parseInteger, variablesOf } from '#process/environment.ts';
import type { RedisDescription } from '#redis/description.ts';
import { redisOf } from '#redis/read-redis.ts';

export type Config = DecisionConfig & {
  /**
   * Where several processes share their counters. Undefined when this process counts by itself.
   * Holds secrets.
   */
  readonly redis: RedisDescription | undefined;
  /** A store that does not answer within this time, in ms, counts as unavailable. */
  readonly storeTimeoutMs: number;
  /** The most counters that this process keeps in its own memory. */
  readonly maxCounters: number;
};

/**
 * Returns the configuration in the environment variables. Those of `readDecisionConfig` are read,
 * with the defaults `ADDRESS` 127.0.0.1:18002 and `WORKERS` one per core but one with Redis, else
 * 1. The others are:
 *
 * - `REDIS_URL` and the other `REDIS_` variables, see `readRedis`. Default: counters in memory.
 * - `STORE_TIMEOUT_MS`. Default: 100, which is half of what the edge gives the built-in service. A
 *   proxy that waits for less than twice that has its answer in half of its time.
 * - `MAX_COUNTERS`. Default: 500000.
 *
 * @throws an Error that names the variable and what it should be
 */
export function readConfig(env: Environment, readFile = readText): Config {
  const text = variablesOf(env);
  const integer = (name: string, otherwise: number, most: number) =>
    parseInteger(name, text(name, String(otherwise)), most);
  const redis = redisOf(env, readFile);
  const common = readDecisionConfig(env, {
    address: '127.0.0.1:18002',
    workers: redis === undefined ? 1 : workersByDefault(),
  });
  if (redis === undefined && common.workers > 1) throw new Error(countsApart(common.workers));
  return {
    ...common,
    redis,
    storeTimeoutMs: integer('STORE_TIMEOUT_MS', 100, 60_000),
    maxCounters: integer('MAX_COUNTERS', 500_000, 16_000_000),
  };
}

function countsApart(workers: number): string {
  return `WORKERS is "${workers}": workers that count in memory count apart, and would let ${workers} times as much through: set REDIS_URL, or WORKERS to 1`;
}

function readText(path: string): string {
  return readFileSync(path, 'utf8');
}
