import { join } from 'node:path';
import { openRecordStore } from '#ext-authz/store/open-record-store.ts';
import type { RecordStore } from '#ext-authz/store/record-store.ts';

/** A real store in a file of the folder. */
export function openStore(folder: string): Promise<RecordStore> {
  return openRecordStore({
    redis: undefined,
    file: join(folder, 'sessions.sqlite'),
    timeoutMs: 1000,
    now: Date.now,
    uptime: () => performance.now(),
    random: Math.random,
    onEvent: () => {},
  });
}
