import type { Logger } from 'pino';
import { orExit } from '#process/exit.ts';
import type { OrderTaker } from '#process/orders.ts';
import type { Report } from '#process/reporter.ts';
import { runDecisions } from '#process/run-decisions.ts';
import type { WorkParts } from '#process/run-workers.ts';
import { openTraces } from '#process/traces/open-traces.ts';
import { RATE_LIMIT } from '#protos/type-url.ts';
import type { Config } from './config.ts';
import { counterFindings } from './counter-findings.ts';
import type { CounterOwners } from './counter-owner.ts';
import type { CounterStore } from './counter-store.ts';
import { openCounterStore } from './open-counter-store.ts';
import { type LimitServer, openServer } from './server.ts';
import { tracedCounterStore } from './traced-counter-store.ts';

/** How often the use of the counter store is read, in ms. */
const LOOK_MS = 5_000;

/** Runs one process of the service, with its counters, limits and port. */
export async function work(parts: WorkParts<Config>): Promise<void> {
  const { config, exit, log, worker } = parts;
  const { redis, storeTimeoutMs } = config;
  const sources = { log, now: Date.now, uptime, random: Math.random };
  const traces = await openTraces('ratelimit-service', process.env, log);
  const opened = await orExit(exit, () => openCounterStore(config, sources));
  const store = redis === undefined ? opened : tracedCounterStore(opened, traces);
  let limits: CounterOwners = new Map();
  const owned = (owners: CounterOwners) => {
    limits = owners;
  };
  const kind = redis === undefined ? 'memory' : 'redis';
  const kept = { store, kind, storeTimeoutMs, owned } as const;
  const server = openServer({ ...kept, log, now: Date.now, uptime, worker, traces });
  await runDecisions({
    ...parts,
    group: 'ratelimit-service',
    typeUrls: [RATE_LIMIT],
    what: 'limits',
    // Several workers all count in Redis. The first one reports for all.
    ...(worker === undefined || worker.number === 1
      ? {
          reports: {
            to: config.reportTo,
            begin: report => watchRoom(store, () => limits, report),
          },
        }
      : {}),
    server,
    orders: resetCounters(server, log),
    store: {
      kind,
      close: async () => {
        await store.close();
        await traces?.close();
      },
    },
  });
}

/** The values of the labels are what clients sent, so they are in no log. */
function resetCounters(server: LimitServer, log: Logger): OrderTaker {
  return {
    async given(_name, order) {
      if (!('counterReset' in order)) throw new Error('it resets counters alone');
      const { domain, labels } = order.counterReset;
      const keys = labels.map(({ key }) => key);
      try {
        const counters = await server.reset(domain, labels);
        if (counters === 0) throw new Error('no limit counts these labels');
        log.info({ domain, keys, counters }, 'counters begin again, as the control plane asks');
        return counters === 1 ? '1 counter begins again' : `${counters} counters begin again`;
      } catch (error) {
        const reason = error instanceof Error ? error.message : 'the store failed';
        log.error({ domain, keys, reason }, 'counters cannot be reset');
        throw error;
      }
    },
  };
}

function watchRoom(store: CounterStore, limits: () => CounterOwners, report: Report): void {
  const look = async () => {
    await store.look?.();
    report(() => counterFindings(store.status(), limits(), Date.now()));
  };
  setInterval(() => void look(), LOOK_MS).unref();
}

function uptime(): number {
  return performance.now();
}
