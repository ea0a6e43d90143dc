import type { Eventually } from '#process/eventually.ts';
import { isCrowded, type RedisMemory } from '#redis/memory.ts';
import type { RecordStore } from './record-store.ts';

/** A store that is slow once is asked again after this time. */
const AGAIN_MS = 1_000;
const WINDOW_MS = 60_000;
const LOOK = 'looked at';

/**
 * What is wrong with a store. One that is full, or a replica, may still be read. One that is nearly
 * full is written, too.
 */
export type StoreFault = {
  readonly reason: string;
  readonly isRead: boolean;
  readonly isWritten?: true;
};

/** Returns why the store cannot be used now or soon, or undefined when it can. */
export async function storeFault(
  store: RecordStore,
  pause: (ms: number) => Promise<void>,
): Promise<StoreFault | undefined> {
  if ((await writeFault(store)) === undefined) return crowded(await store.memory());
  await pause(AGAIN_MS);
  const reason = await writeFault(store);
  return reason === undefined ? undefined : { reason, isRead: await isRead(store) };
}

async function writeFault(store: RecordStore): Promise<string | undefined> {
  const unreached = store.unreached();
  if (unreached !== undefined) return unreached;
  return faultOf(() => store.count(LOOK, 1, WINDOW_MS));
}

function crowded(memory: RedisMemory | undefined): StoreFault | undefined {
  if (memory === undefined || !isCrowded(memory)) return undefined;
  const { policy } = memory;
  const then =
    policy === 'noeviction'
      ? 'when it is full no login begins'
      : `with maxmemory-policy ${policy} logins are lost when it is full. Set noeviction`;
  const reason = `Redis: 80 % of its maxmemory are in use, and ${then}`;
  return { reason, isRead: true, isWritten: true };
}

async function isRead(store: RecordStore): Promise<boolean> {
  return (await faultOf(() => store.read(LOOK))) === undefined;
}

async function faultOf(ask: () => Eventually<unknown>): Promise<string | undefined> {
  try {
    await ask();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : 'it failed';
  }
}
