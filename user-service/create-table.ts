import timers from 'node:timers/promises';
import type { Logger } from 'pino';
import { describeError } from './describe-error.ts';
import type { UserStore } from './users.ts';

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 2000;

/**
 * Creates the table, and resolves after the first attempt also when the store is down. It then
 * retries in the background, with pauses that double from 0.25 s to 2 s, until it succeeds or
 * `stop` is aborted. A service without its store is up. Its health path answers for the instance,
 * and what needs a user answers 503.
 */
export async function createTable(store: UserStore, log: Logger, stop: AbortSignal): Promise<void> {
  const fault = await attempt(store, log);
  if (fault !== undefined) void keepTrying(store, log, stop, fault);
}

async function keepTrying(
  store: UserStore,
  log: Logger,
  stop: AbortSignal,
  first: string,
): Promise<void> {
  let wait = FIRST_PAUSE_MS;
  let fault: string | undefined = first;
  do {
    await timers.setTimeout(wait, undefined, { ref: false });
    wait = Math.min(wait * 2, LONGEST_PAUSE_MS);
    fault = await attempt(store, log, fault);
  } while (!stop.aborted && fault !== undefined);
}

/** Tries once. Returns why it failed, and logs that when it is not what was `told` before. */
async function attempt(store: UserStore, log: Logger, told?: string): Promise<string | undefined> {
  try {
    await store.createTable();
    log.info('table of users exists');
    return undefined;
  } catch (thrown) {
    const described = describeError(thrown);
    const fault = `${described.error}: ${described.cause}`;
    if (fault !== told) log.warn(described, 'store of users is down, retrying');
    return fault;
  }
}
