import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { until } from '#envoy/e2e/until.ts';
import { encodeAny } from '#protos/encode.ts';
import { serve } from '#protos/serve.ts';
import { RATE_LIMIT } from '#protos/type-url.ts';
import { startRedis } from '#redis/testing/redis-server.ts';
import { DiscoveryService } from '#xds/discovery-service.ts';
import { snapshotOf, xdsResource } from '#xds/snapshot.ts';
import { SnapshotCache } from '#xds/snapshot-cache.ts';

/** A rate limit service under test, with the processes whose CPU time is its cost. */
export type DecisionService = {
  readonly port: number;
  readonly service: number;
  readonly store: number | undefined;
  stop(): Promise<void>;
};

export type Kind = 'envoyproxy/ratelimit + Redis' | 'ours, in memory' | 'ours + Redis';

export const DOMAIN = 'bench';
/** More than is ever asked: the limits are counted, not reached. */
const RATE = 4_000_000_000;
const MAIN = join(import.meta.dirname, '..', '..', 'ratelimit-service', 'main.ts');

/** Limit `i` is on requests labelled `generic_key=limit-<i>` and any `n`: each n has a counter of its own. */
export async function startDecisionService(
  kind: Kind,
  limits: number,
  reference: string,
): Promise<DecisionService> {
  if (kind === 'ours, in memory') return startOurs(limits, {}, undefined, async () => {});
  const redis = await startRedis();
  if (kind === 'envoyproxy/ratelimit + Redis') return startReference(limits, reference, redis);
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
    env: { ...process.env, ADDRESS: `127.0.0.1:${port}`, XDS_ADDRESS: `127.0.0.1:${xds.port}`, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await until(() => isReady(`http://127.0.0.1:${port}/readyz`), 30_000, 'our service');
  const stop = async () => {
    await end(child);
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

async function startReference(
  limits: number,
  binary: string,
  redis: Awaited<ReturnType<typeof startRedis>>,
): Promise<DecisionService> {
  const folder = mkdtempSync(join(tmpdir(), 'reference-'));
  mkdirSync(join(folder, 'config'), { recursive: true });
  writeFileSync(join(folder, 'config', 'limits.yaml'), stringify(referenceConfig(limits)));
  const [port, http, debug] = [await freePort(), await freePort(), await freePort()];
  const child = spawn(binary, [], {
    env: {
      PATH: process.env.PATH,
      RUNTIME_ROOT: folder,
      RUNTIME_SUBDIRECTORY: '',
      RUNTIME_WATCH_ROOT: 'false',
      GRPC_PORT: String(port),
      PORT: String(http),
      DEBUG_PORT: String(debug),
      USE_STATSD: 'false',
      LOG_LEVEL: 'error',
      REDIS_SOCKET_TYPE: 'tcp',
      REDIS_URL: redis.address,
    },
    stdio: ['ignore', 'ignore', 'ignore'],
  });
  await until(() => isReady(`http://127.0.0.1:${http}/healthcheck`), 60_000, 'the reference service');
  const stop = async () => {
    await end(child);
    await redis.remove();
    rmSync(folder, { recursive: true });
  };
  return { port, service: child.pid ?? 0, store: redis.pid(), stop };
}

function referenceConfig(limits: number): object {
  const rate_limit = { unit: 'minute', requests_per_unit: RATE };
  const descriptors = Array.from({ length: limits }, (_, i) => ({
    key: 'generic_key',
    value: `limit-${i}`,
    descriptors: [{ key: 'n', rate_limit }],
  }));
  return { domain: DOMAIN, descriptors };
}

async function isReady(url: string): Promise<true | undefined> {
  const answer = await fetch(url).catch(() => undefined);
  return answer?.status === 200 || undefined;
}

async function end(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}
