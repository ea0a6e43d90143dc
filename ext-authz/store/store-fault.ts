import type { RecordStore } from './record-store.ts';

/** A store that is slow once is asked again after this time. */
const AGAIN_MS = 1_000;
const WINDOW_MS = 60_000;

/** Returns why the store cannot be used now, or undefined when it can. */
export async function storeFault(
  store: RecordStore,
  pause: (ms: number) => Promise<void>,
): Promise<string | undefined> {
  if ((await faultOf(store)) === undefined) return undefined;
  await pause(AGAIN_MS);
  return faultOf(store);
}

/** Writes, because a store that is full or damaged may still be read. */
async function faultOf(store: RecordStore): Promise<string | undefined> {
  const unreached = store.unreached();
  if (unreached !== undefined) return unreached;
  try {
    await store.count('looked at', 1, WINDOW_MS);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : 'it failed';
  }
}
