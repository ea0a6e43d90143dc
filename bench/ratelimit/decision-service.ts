import { join } from 'node:path';
import { startRedis } from '#redis/testing/redis-server.ts';
import { snapshotOf } from '#xds/snapshot.ts';
import { startDiscovery } from '../discovery.ts';
import { type DecisionService, startServiceProcess } from '../service-process.ts';
import { limitResource } from './limits.ts';
import { startReference } from './reference.ts';

export type Kind = 'envoyproxy/ratelimit + Redis' | 'ours, in memory' | 'ours + Redis';

/** With more workers the CPU time would be that of several processes. */
const ONE = { WORKERS: '1' };
const MAIN = join(import.meta.dirname, '..', '..', 'ratelimit-service', 'main.ts');

/**
 * Starts a service. Limit `i` is on requests labelled `generic_key=limit-<i>` and any `n`, and each
 * n has a counter of its own.
 */
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
  const xds = await startDiscovery(
    'ratelimit-service',
    snapshotOf(Array.from({ length: limits }, (_, i) => limitResource(i))),
  );
  const service = await startServiceProcess([MAIN], {
    ADDRESS: '127.0.0.1:0',
    XDS_ADDRESS: `127.0.0.1:${xds.port}`,
    ...ONE,
    ...env,
  });
  const stop = async () => {
    await service.stop();
    await xds.stop();
    await stopStore();
  };
  return { ...service, store, stop };
}
