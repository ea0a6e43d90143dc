import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { freePort } from '#grpc/testing/free-port.ts';
import { startRedis } from '#redis/testing/redis-server.ts';
import { snapshotOf } from '#xds/snapshot.ts';
import { startDiscovery } from '../discovery.ts';
import { endProcess } from '../end-process.ts';
import { limitResource } from './limits.ts';
import { type DecisionService, readyAt } from './ready-at.ts';
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
