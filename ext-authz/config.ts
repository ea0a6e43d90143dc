import type { KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseStoreKey } from '#ext-authz/store/store-key.ts';
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
   * Where several replicas share sessions. Undefined when sessions are in a file of the state
   * folder. Holds secrets.
   */
  readonly redis: RedisDescription | undefined;
  /** The folder for what must survive a restart. */
  readonly state: string;
  /** The file of the sessions, without Redis. */
  readonly storeFile: string;
  /**
   * The key for stored values that could be guessed. Undefined means the state folder's own key.
   * Replicas that share a store must share the key.
   */
  readonly storeKey: KeyObject | undefined;
  /** A store that does not answer within this time, in ms, counts as dead. */
  readonly storeTimeoutMs: number;
};

type ReadFile = (path: string) => string;

/**
 * Reads the configuration. Its variables, with their defaults, are those of `readDecisionConfig`
 * and these:
 *
 * - ADDRESS: 127.0.0.1:18001
 * - WORKERS: one per core, less one
 * - STATE: .gateway
 * - REDIS_URL and the other REDIS_ variables, see `readRedis`: none, sessions are in a file of the
 *   state folder
 * - STORE_KEY or STORE_KEY_FILE, 32 bytes as hexadecimal digits or Base64: a key made in the state
 *   folder
 * - STORE_TIMEOUT_MS: 500
 *
 * An empty variable counts as not set. Throws an Error that names the variable and what it should
 * be, never a secret.
 */
export function readConfig(env: Environment, readFile: ReadFile = readText): Config {
  const text = variablesOf(env);
  const state = resolve(text('STATE', '.gateway'));
  return {
    ...readDecisionConfig(env, { address: '127.0.0.1:18001', workers: workersByDefault() }),
    redis: redisOf(env, readFile),
    state,
    storeFile: join(state, 'sessions.sqlite'),
    storeKey: storeKeyOf(env, readFile),
    storeTimeoutMs: parseInteger('STORE_TIMEOUT_MS', text('STORE_TIMEOUT_MS', '500'), 3_000),
  };
}

function storeKeyOf(env: Environment, readFile: ReadFile): KeyObject | undefined {
  const file = env.STORE_KEY_FILE?.trim();
  const value = env.STORE_KEY?.trim();
  if (file && value) throw new Error('STORE_KEY and STORE_KEY_FILE are both set: keep one');
  if (!file && !value) return undefined;
  const name = file ? 'STORE_KEY_FILE' : 'STORE_KEY';
  const key = parseStoreKey(file ? readKeyFile(file, readFile) : (value ?? ''));
  if ('error' in key) throw new Error(`${name}: ${key.error}`);
  return key;
}

function readKeyFile(file: string, readFile: ReadFile): string {
  try {
    return readFile(file);
  } catch (error) {
    throw new Error(
      `STORE_KEY_FILE: cannot read ${file}: ${error instanceof Error ? error.message : error}`,
    );
  }
}

function readText(path: string): string {
  return readFileSync(path, 'utf8');
}
