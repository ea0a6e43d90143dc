import { hostname } from 'node:os';
import { credentials } from '@grpc/grpc-js';
import pino from 'pino';
import { after } from '#process/after.ts';
import { exitOf, orExit } from '#process/exit.ts';
import { openMutualTls } from '#process/mutual-tls.ts';
import { servePlainHttp } from '#process/plain-http.ts';
import { formatHostPort } from '#protos/host-port.ts';
import { RATE_LIMIT } from '#protos/type-url.ts';
import { connect } from '#xds/client.ts';
import { readConfig } from './config.ts';
import { openCounterStore } from './open-counter-store.ts';
import { startServer } from './server.ts';

/** The group that the control plane sends limits to. */
const GROUP = 'ratelimit-service';
/** Who may ask for decisions. */
const CLIENTS = ['edge'];
/** Requests take milliseconds. */
const STOP_GRACE_MS = 500;

const exit = exitOf('ratelimit-service');
const config = await orExit(exit, () => readConfig(process.env));
const log = pino({ level: config.logLevel, base: null });
const store = await orExit(exit, () =>
  openCounterStore(config, { log, now: Date.now, uptime, random: Math.random }),
);
const { tlsFolder } = config;
const tls =
  tlsFolder === undefined
    ? undefined
    : await orExit(exit, () => openMutualTls(tlsFolder, { group: GROUP, log, now: Date.now }));
const { host, port } = config.address;
const server = await startServer({
  host,
  port,
  store,
  log,
  uptime,
  tls: tls?.server(CLIENTS),
  storeTimeoutMs: config.storeTimeoutMs,
}).catch((error: Error) => exit(`ADDRESS: cannot listen on ${host} port ${port}: ${error.message}`));
const http = config.http && (await servePlainHttp(server.http, config.http, exit));
const connection = connect({
  address: formatHostPort(config.xds),
  credentials: tls?.client('controlplane') ?? credentials.createInsecure(),
  node: { id: `${hostname()}-${process.pid}`, cluster: GROUP },
  typeUrls: [RATE_LIMIT],
  onUpdate: update => server.update(update),
  onDisconnect: reason =>
    log.warn({ controlPlane: formatHostPort(config.xds), reason }, 'no control plane, limits stay'),
  random: Math.random,
  after,
});

process.once('SIGTERM', stop);
process.once('SIGINT', stop);
process.once('disconnect', stop); // the supervisor that held the other end of the IPC channel is gone
log.info(
  { address: server.address, port: server.port, store: config.redis === undefined ? 'memory' : 'redis' },
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

function uptime(): number {
  return performance.now();
}
