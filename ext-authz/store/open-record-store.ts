import type { Traces } from '#process/traces/traces.ts';
import type { LinkEvent } from '#redis/connect.ts';
import type { RedisDescription } from '#redis/description.ts';
import type { RecordStore } from './record-store.ts';
import { openSqliteRecordStore } from './sqlite-record-store.ts';

export type RecordStoreOptions = {
  /** Where all replicas share records. */
  readonly redis: RedisDescription | undefined;
  /** The file of the records without Redis. */
  readonly file: string;
  /** How long a call may take. A `create` with groups may take twice as long in Redis. */
  readonly timeoutMs: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Milliseconds of a clock that never goes back. */
  readonly uptime: () => number;
  /** A number in [0, 1), for the jitter of back-offs. */
  readonly random: () => number;
  readonly onEvent: (event: LinkEvent) => void;
  /** See SqliteRecordStoreOptions. */
  readonly onFull?: () => void;
  /** Undefined when calls are not traced. */
  readonly traces?: Traces | undefined;
};

/**
 * Opens the store that the configuration asks for. Rejects when the file cannot be used. Redis may
 * become available later.
 */
export async function openRecordStore(options: RecordStoreOptions): Promise<RecordStore> {
  const { file, now, onEvent, onFull, random, redis, timeoutMs, traces, uptime } = options;
  if (redis === undefined)
    return openSqliteRecordStore(file, { now, timeoutMs, uptime, ...(onFull && { onFull }) });
  // Its client has 478 modules, a quarter of those of the service. Most do not use it.
  const { openRedisRecordStore } = await import('./redis-record-store.ts');
  return openRedisRecordStore(redis, { timeoutMs, now: uptime, random, onEvent, traces });
}
