import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EXT_AUTHZ } from '#controlplane/compile/node-groups.ts';
import { openRecordStore } from '#ext-authz/store/open-record-store.ts';
import type { RecordStore } from '#ext-authz/store/record-store.ts';
import { STORE_KEY } from '#ext-authz/testing/store-login.ts';
import { readRedis } from '#redis/read-redis.ts';
import { startRedis } from '#redis/testing/redis-server.ts';
import { startDiscovery } from '../discovery.ts';
import { type DecisionService, type Server, startServiceProcess } from '../service-process.ts';
import { snapshotOfSite } from './configuration.ts';

export type StoreKind = 'embedded' | 'Redis';

/** Our service with its store, which is opened here once more. */
export type GuardedService = DecisionService & { readonly records: RecordStore };

const MAIN = join(import.meta.dirname, '..', '..', 'ext-authz', 'main.ts');
const DECISIONS = join(import.meta.dirname, '..', 'h2', 'decision-process.ts');
const CONSTANT = join(import.meta.dirname, 'constant-server.ts');
const TIMEOUT_MS = 3_000;

/** Starts a service that allows every request. */
export function startConstant(server: Server): Promise<DecisionService> {
  return startServiceProcess([CONSTANT, server]);
}

/** Starts ext-authz as `npm start` does. It gets its Filters and FilterPolicies by xDS. */
export async function startOurs(kind: StoreKind, yaml: string): Promise<GuardedService> {
  const state = mkdtempSync(join(tmpdir(), 'bench-oauth2-'));
  const redis = kind === 'Redis' ? await startRedis() : undefined;
  const redisUrl = redis === undefined ? '' : `redis://${redis.address}`;
  const xds = await startDiscovery(EXT_AUTHZ, snapshotOfSite(yaml));
  const service = await startServiceProcess([MAIN], {
    ADDRESS: '127.0.0.1:0',
    XDS_ADDRESS: `127.0.0.1:${xds.port}`,
    STATE: state,
    REDIS_URL: redisUrl,
    STORE_KEY: STORE_KEY.export().toString('hex'),
    STORE_TIMEOUT_MS: String(TIMEOUT_MS),
    LOG_LEVEL: 'error',
    WORKERS: '1',
  });
  const records = await openStore(redisUrl, join(state, 'sessions.sqlite'));
  const stop = async () => {
    await records.close();
    await service.stop();
    await xds.stop();
    await redis?.remove();
    rmSync(state, { recursive: true });
  };
  return { ...service, records, store: redis?.pid(), stop };
}

/**
 * Starts our ext-authz with its embedded store on this HTTP/2 implementation, with these resources
 * from the start.
 */
export async function startOursOn(server: Server, yaml: string): Promise<GuardedService> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-oauth2-'));
  const [file, resources] = [join(folder, 'sessions.sqlite'), join(folder, 'site.yaml')];
  writeFileSync(resources, yaml);
  const service = await startServiceProcess([DECISIONS, server, 'check', file, resources]);
  const records = await openStore('', file);
  const stop = async () => {
    await records.close();
    await service.stop();
    rmSync(folder, { recursive: true });
  };
  return { ...service, records, stop };
}

async function openStore(redisUrl: string, file: string): Promise<RecordStore> {
  const redis = readRedis({ REDIS_URL: redisUrl }, () => '');
  if (redis !== undefined && 'error' in redis) throw new Error(redis.error);
  return openRecordStore({
    redis,
    file,
    timeoutMs: TIMEOUT_MS,
    now: Date.now,
    uptime: () => performance.now(),
    random: Math.random,
    onEvent: () => {},
  });
}
