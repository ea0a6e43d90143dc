import http from 'node:http';
import { join } from 'node:path';
import pino from 'pino';
import { after } from '#process/after.ts';
import { exitOf, orExit } from '#process/exit.ts';
import { openMutualTls } from '#process/mutual-tls.ts';
import { serve } from '#protos/serve.ts';
import { readConfig } from './config.ts';
import { controlPlane } from './control-plane.ts';
import { httpApp } from './http.ts';
import { fileLastGoodStore } from './last-good-store.ts';
import { createMetrics } from './metrics.ts';
import { watchResourceFolders } from './resource-folders.ts';
import { makeStateFolder } from './state-folder.ts';

/** What its certificate calls it. */
const GROUP = 'controlplane';
/** Streams of proxies never end by themselves: what may still end in this time are requests. */
const STOP_GRACE_MS = 500;

const exit = exitOf('controlplane');
const config = await orExit(exit, () => readConfig(process.env));
const log = pino({ level: config.logLevel, base: null });
await orExit(exit, () => makeStateFolder(config.state));

const { tlsFolder } = config;
const tls =
  tlsFolder === undefined
    ? undefined
    : await orExit(exit, () => openMutualTls(tlsFolder, { group: GROUP, log, now: Date.now }));
if (tls !== undefined && tls.trustDomain !== config.trustDomain)
  exit(`TRUST_DOMAIN is ${config.trustDomain}, but ${tlsFolder} holds a certificate of ${tls.trustDomain}`);
const store = fileLastGoodStore(join(config.state, 'last-good.json'));
const metrics = createMetrics(() => plane.status());
const plane = await controlPlane({ config, store, metrics, log, now: Date.now, after });
const resources = await orExit(exit, () =>
  watchResourceFolders(config.resources, process.cwd(), config, reading => plane.read(reading)),
);

const grpc = await serve({ ...config.xds, services: plane.services, tls: tls?.server() }).catch(
  (error: Error) =>
    exit(`XDS_ADDRESS: cannot listen on ${config.xds.host} port ${config.xds.port}: ${error.message}`),
);
grpc.setServing(true);
const readiness = () => plane.readiness();
const admin = http.createServer(
  httpApp({ readiness, status: () => plane.status(), metrics: metrics.registry }),
);
await new Promise<void>((resolve, reject) => {
  admin.once('error', reject);
  admin.listen(config.http.port, config.http.host, resolve);
}).catch((error: Error) =>
  exit(`HTTP_ADDRESS: cannot listen on ${config.http.host} port ${config.http.port}: ${error.message}`),
);

process.once('SIGTERM', stop);
process.once('SIGINT', stop);
process.once('disconnect', stop); // the supervisor that held the other end of the IPC channel is gone
log.info({ xds: grpc.port, http: admin.address(), resources: config.resources }, 'listening');
process.send?.({ ready: true });

/** Ends within a second and exits 0; another signal ends the process at once. */
async function stop(reason: string): Promise<void> {
  log.info({ reason }, 'stopping');
  resources.close();
  admin.close();
  admin.closeAllConnections();
  await plane.stop();
  await grpc.stop(STOP_GRACE_MS);
  tls?.close();
  process.exit(0);
}
