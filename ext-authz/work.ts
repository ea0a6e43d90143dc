import { type KeyObject, randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { FilterKit } from '#ext-authz/filters/filter-kit.ts';
import { FILTER_TYPES } from '#ext-authz/filters/filter-set.ts';
import { openFilterKit } from '#ext-authz/filters/open-filter-kit.ts';
import { joinAttempts } from '#ext-authz/oauth2/tokens/attempt-group.ts';
import { openRecordStore } from '#ext-authz/store/open-record-store.ts';
import type { RecordStore } from '#ext-authz/store/record-store.ts';
import { type StoreFault, storeFault } from '#ext-authz/store/store-fault.ts';
import { openStoreKey } from '#ext-authz/store/store-key.ts';
import { markState } from '#files/state-mark.ts';
import { after } from '#process/after.ts';
import { orExit } from '#process/exit.ts';
import type { OrderTaker } from '#process/orders.ts';
import type { Report } from '#process/reporter.ts';
import { runDecisions } from '#process/run-decisions.ts';
import type { WorkParts } from '#process/run-workers.ts';
import { openTraces } from '#process/traces/open-traces.ts';
import type { Traces } from '#process/traces/traces.ts';
import type { LinkEvent } from '#redis/connect.ts';
import type { Config } from './config.ts';
import { openServer } from './server.ts';

/** How often the store is looked at, in ms. */
const LOOK_MS = 5_000;

/** Runs one process of the service: its store, its filters, its port. */
export async function work(parts: WorkParts<Config>): Promise<void> {
  const { config, log, worker } = parts;
  if (config.storeKey === undefined || config.redis === undefined)
    await orExit(parts.exit, () => markState(config.state), 'STATE');
  const storeKey = config.storeKey ?? (await stateKey(parts));
  const traces = await openTraces('ext-authz', process.env, log);
  const store = await openStore(parts, traces);
  const isFirst = worker === undefined || worker.number === 1;
  let report: Report = () => {};
  let findings: Parameters<Report>[0] = () => [];
  let fault: StoreFault | undefined;
  const kit = openFilterKit({
    store,
    storeKey,
    log,
    now: Date.now,
    randomBytes,
    id: randomUUID,
    timeout: AbortSignal.timeout,
    pause: waitOrAbort,
    traces,
    // One of several workers asks the providers for all. It also reports what any of them finds.
    findings: {
      looks: isFirst,
      report: find => {
        findings = find;
        report(find);
      },
      storeFault: () => fault,
    },
    ...(worker && joinAttempts(worker.calls)),
  });
  const kind = config.redis === undefined ? 'file' : 'redis';
  await runDecisions({
    ...parts,
    group: 'ext-authz',
    typeUrls: FILTER_TYPES,
    what: 'filters',
    reports: {
      to: config.reportTo,
      begin: to => {
        report = to;
        if (isFirst)
          void watchStore(store, found => {
            fault = found;
            report(findings);
          });
      },
    },
    // One of several workers acts for all, since they share the store.
    orders: isFirst ? endSessions(kit, log) : undefined,
    server: openServer({ kit, store: kind, log, uptime, after, worker, traces }),
    store: {
      kind,
      close: async () => {
        await store.close();
        await traces?.close();
      },
    },
  });
}

async function watchStore(
  store: RecordStore,
  heard: (fault: StoreFault | undefined) => void,
): Promise<never> {
  for (;;) {
    await waitOrAbort(LOOK_MS);
    heard(await storeFault(store, waitOrAbort));
  }
}

function endSessions(kit: FilterKit, log: Logger): OrderTaker {
  return {
    async given(_name, order) {
      if (!('sessionEnd' in order)) throw new Error('it ends sessions alone');
      const { filter, user } = order.sessionEnd;
      try {
        const sessions = await kit.endSessions(filter, user);
        if (sessions === undefined) throw new Error(`no Filter ${filter} logs users in here`);
        log.info({ filter, user, sessions }, 'sessions of a user ended, as the control plane asks');
        return sessions === 1 ? '1 session has ended' : `${sessions} sessions have ended`;
      } catch (error) {
        const reason = error instanceof Error ? error.message : 'the store failed';
        log.error({ filter, user, reason }, 'sessions of a user cannot be ended');
        throw error;
      }
    },
  };
}

/** Replicas that share a Redis and not the state folder would each make a key of their own. */
function stateKey({ config, exit, log }: WorkParts<Config>): Promise<KeyObject> {
  const made = (file: string) => {
    if (config.redis !== undefined) log.warn({ file }, APART);
  };
  return orExit(exit, () => openStoreKey(config.state, randomBytes, made), 'STATE');
}

const APART =
  'REDIS_URL is set without STORE_KEY, so a store key was made. Replicas with another state folder need the same one in STORE_KEY or STORE_KEY_FILE. Otherwise the logins and sessions of one do not count at another';

function openStore(
  { config, exit, log }: WorkParts<Config>,
  traces: Traces | undefined,
): Promise<RecordStore> {
  const onEvent = (event: LinkEvent) => {
    if (event.connected) log.info({ redis: event.address }, 'Redis is connected');
    else log.error({ redis: event.address, reason: event.reason }, 'Redis is not connected');
  };
  const { redis, storeFile: file, storeTimeoutMs: timeoutMs } = config;
  const onFull = () =>
    log.warn({ file }, 'the file of sessions is full, so the sessions that end first are removed');
  const sources = { now: Date.now, uptime, random: Math.random, onEvent, onFull, traces };
  const variable = redis === undefined ? 'STATE' : 'REDIS_URL';
  return orExit(exit, () => openRecordStore({ redis, file, timeoutMs, ...sources }), variable);
}

function uptime(): number {
  return performance.now();
}

async function waitOrAbort(ms: number, signal?: AbortSignal): Promise<void> {
  await pause(ms, undefined, { ref: false, ...(signal === undefined ? {} : { signal }) }).catch(
    () => {},
  );
}
