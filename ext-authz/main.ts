import { randomBytes, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { credentials } from '@grpc/grpc-js';
import pino from 'pino';
import { after } from '#process/after.ts';
import { exitOf, orExit } from '#process/exit.ts';
import { openMutualTls } from '#process/mutual-tls.ts';
import { servePlainHttp } from '#process/plain-http.ts';
import { formatHostPort } from '#protos/host-port.ts';
import type { LinkEvent } from '#redis/connect.ts';
import { connect } from '#xds/client.ts';
import { readConfig } from './config.ts';
import { FILTER_TYPES } from './filter-set.ts';
import { openFilterKit } from './open-filter-kit.ts';
import { startServer } from './server.ts';
import { openRecordStore } from './store/open-record-store.ts';
import { openStoreKey } from './store/store-key.ts';

/** The group that the control plane sends Filters and FilterPolicies to. */
const GROUP = 'ext-authz';
/** Who may ask for decisions. */
const CLIENTS = ['edge'];
/** Requests take milliseconds, unless they wait for a provider. */
const STOP_GRACE_MS = 500;

const exit = exitOf('ext-authz');
const config = await orExit(exit, () => readConfig(process.env));
const log = pino({ level: config.logLevel, base: null });
const { redis, state, storeFile, storeTimeoutMs } = config;
const storeKey = config.storeKey ?? (await orExit(exit, () => openStoreKey(state, randomBytes)));
const store = await orExit(exit, () =>
  openRecordStore({
    redis,
    file: storeFile,
    timeoutMs: storeTimeoutMs,
    now: Date.now,
    uptime,
    random: Math.random,
    onEvent: onStoreEvent,
  }),
);
const kit = openFilterKit({
  store,
  storeKey,
  log,
  now: Date.now,
  randomBytes,
  id: randomUUID,
  timeout: AbortSignal.timeout,
  pause: waitOrAbort,
});
const { tlsFolder } = config;
const tls =
  tlsFolder === undefined
    ? undefined
    : await orExit(exit, () => openMutualTls(tlsFolder, { group: GROUP, log, now: Date.now }));
const { host, port } = config.address;
const server = await startServer({
  host,
  port,
  kit,
  log,
  uptime,
  after,
  tls: tls?.server(CLIENTS),
}).catch((error: Error) => exit(`ADDRESS: cannot listen on ${host} port ${port}: ${error.message}`));
const http = config.http && (await servePlainHttp(server.http, config.http, exit));
const connection = connect({
  address: formatHostPort(config.xds),
  credentials: tls?.client('controlplane') ?? credentials.createInsecure(),
  node: { id: `${hostname()}-${process.pid}`, cluster: GROUP },
  typeUrls: FILTER_TYPES,
  onUpdate: update => server.update(update),
  onDisconnect: reason =>
    log.warn({ controlPlane: formatHostPort(config.xds), reason }, 'no control plane, filters stay'),
  random: Math.random,
  after,
});

process.once('SIGTERM', stop);
process.once('SIGINT', stop);
process.once('disconnect', stop); // the supervisor that held the other end of the IPC channel is gone
log.info(
  { address: server.address, port: server.port, store: redis === undefined ? 'file' : 'redis' },
  'listening',
);
process.send?.({ listening: true, address: server.address, port: server.port });
await server.serving;
process.send?.({ ready: true });

/** Ends within a second and exits 0; another signal ends the process at once. */
async function stop(reason: string): Promise<void> {
  log.info({ reason }, 'stopping');
  connection.close();
  http?.close();
  await server.stop(STOP_GRACE_MS);
  await store.close();
  tls?.close();
  process.exit(0);
}

function onStoreEvent(event: LinkEvent): void {
  if (event.connected) log.info({ redis: event.address }, 'Redis is connected');
  else log.error({ redis: event.address, reason: event.reason }, 'Redis is not connected');
}

function uptime(): number {
  return performance.now();
}

async function waitOrAbort(ms: number, signal?: AbortSignal): Promise<void> {
  await pause(ms, undefined, { ref: false, ...(signal === undefined ? {} : { signal }) }).catch(() => {});
}
