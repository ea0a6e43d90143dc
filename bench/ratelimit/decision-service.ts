import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { encodeAny } from '#protos/encode.ts';
import { serve } from '#protos/serve.ts';
import { RATE_LIMIT } from '#protos/type-url.ts';
import { freePort, startRedis } from '#redis/testing/redis-server.ts';
import { DiscoveryService } from '#xds/discovery-service.ts';
import { snapshotOf, xdsResource } from '#xds/snapshot.ts';
import { SnapshotCache } from '#xds/snapshot-cache.ts';
import { endProcess } from '../end-process.ts';
import { DOMAIN, RATE } from './limits.ts';
import { readyAt } from './ready-at.ts';
import { startReference } from './reference.ts';

/** A rate limit service under test, with the processes whose CPU time is its cost. */
export type DecisionService = {
  readonly port: number;
  readonly service: number;
  readonly store: number | undefined;
  stop(): Promise<void>;
};

export type Kind = 'envoyproxy/ratelimit + Redis' | 'ours, in memory' | 'ours + Redis';

/** Else the CPU time would be that of several processes. */
const ONE = { WORKERS: '1' };
const MAIN = join(import.meta.dirname, '..', '..', 'ratelimit-service', 'main.ts');

/** Limit `i` is on requests labelled `generic_key=limit-<i>` and any `n`: each n has a counter of its own. */
export async function startDecisionService(kind: Kind, limits: number): Promise<DecisionService> {
  if (kind === 'ours, in memory') return startOurs(limits, {}, undefined, async () => {});
  const redis = await startRedis();
  if (kind === 'envoyproxy/ratelimit + Redis') return startReference(limits, redis);
  const env = { REDIS_URL: `redis://${redis.address}`, STORE_TIMEOUT_MS: '1000' };
  return startOurs(limits, env, redis.pid(), redis.remove);
}

async function startOurs(
  limits: number,
  env: Readonly<Record<string, string>>,
  store: number | undefined,
  stopStore: () => Promise<void>,
): Promise<DecisionService> {
  const xds = await startLimits(limits);
  const port = await freePort();
  const child = spawn(process.execPath, ['--max-semi-space-size=8', MAIN], {
    env: {
      ...process.env,
      ADDRESS: `127.0.0.1:${port}`,
      XDS_ADDRESS: `127.0.0.1:${xds.port}`,
      ...ONE,
      ...env,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await readyAt(`http://127.0.0.1:${port}/readyz`, child);
  const stop = async () => {
    await endProcess(child);
    await xds.stop();
    await stopStore();
  };
  return { port, service: child.pid ?? 0, store, stop };
}

/** The part of the control plane that sends limits. */
async function startLimits(limits: number) {
  const cache = new SnapshotCache();
  const after = (ms: number, run: () => void) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  };
  const service = new DiscoveryService({ cache, now: Date.now, after });
  const served = await serve({ host: '127.0.0.1', port: 0, services: service.implementations() });
  cache.set('ratelimit-service', snapshotOf(Array.from({ length: limits }, (_, i) => limitResource(i))));
  const stop = () => {
    service.close();
    return served.stop(100);
  };
  return { port: served.port, stop };
}

function limitResource(i: number) {
  const pattern = [
    { alternatives: [{ key: 'generic_key', value: `limit-${i}` }] },
    { alternatives: [{ key: 'n' }] },
  ];
  const limit = { name: `limit-${i}`, rate: RATE, unit: 'MINUTE', pattern };
  return xdsResource(`bench/limit-${i}`, encodeAny({ '@type': RATE_LIMIT, domain: DOMAIN, limits: [limit] }));
}
