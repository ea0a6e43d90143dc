import { orExit } from '#process/exit.ts';
import { runDecisions } from '#process/run-decisions.ts';
import type { WorkParts } from '#process/run-workers.ts';
import { RATE_LIMIT } from '#protos/type-url.ts';
import type { Config } from './config.ts';
import { openCounterStore } from './open-counter-store.ts';
import { openServer } from './server.ts';

/** One process of the service: its counters, its limits, its port. */
export async function work(parts: WorkParts<Config>): Promise<void> {
  const { config, exit, log, worker } = parts;
  const { redis, storeTimeoutMs } = config;
  const sources = { log, now: Date.now, uptime, random: Math.random };
  const store = await orExit(exit, () => openCounterStore(config, sources));
  await runDecisions({
    ...parts,
    group: 'ratelimit-service',
    typeUrls: [RATE_LIMIT],
    what: 'limits',
    server: openServer({ store, log, uptime, storeTimeoutMs, worker }),
    store: { kind: redis === undefined ? 'memory' : 'redis', close: () => store.close() },
  });
}

function uptime(): number {
  return performance.now();
}
