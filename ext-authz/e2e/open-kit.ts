import { type KeyObject, randomBytes, randomUUID } from 'node:crypto';
import pino from 'pino';
import type { FilterKit } from '#ext-authz/filters/filter-kit.ts';
import { openFilterKit } from '#ext-authz/filters/open-filter-kit.ts';
import type { RecordStore } from '#ext-authz/store/record-store.ts';

/** The real filters, which log nothing. */
export function openKit(store: RecordStore, storeKey: KeyObject): FilterKit {
  return openFilterKit({
    store,
    storeKey,
    log: pino({ level: 'silent' }),
    now: Date.now,
    randomBytes,
    id: randomUUID,
    timeout: AbortSignal.timeout,
    pause: () => new Promise(() => {}),
  });
}
