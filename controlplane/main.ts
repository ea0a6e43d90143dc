import http from 'node:http';
import { join } from 'node:path';
import { fileLastGoodStore } from '#controlplane/rollout/last-good-store.ts';
import { makeStateFolder } from '#controlplane/rollout/state-folder.ts';
import { watchResources } from '#controlplane/sources/resource-sources.ts';
import { type KubernetesStatus, writeKubernetesStatus } from '#controlplane/status/kubernetes-status.ts';
import { createMetrics } from '#controlplane/status/metrics.ts';
import { serve } from '#grpc/serve.ts';
import { connectCluster } from '#kubernetes/cluster.ts';
import { after } from '#process/after.ts';
import { exitOf, orExit } from '#process/exit.ts';
import { openMutualTls } from '#process/mutual-tls.ts';
import { serviceLog } from '#process/service-log.ts';
import { readConfig } from './config.ts';
import { controlPlane } from './control-plane.ts';
import { httpApp } from './http.ts';

/** What its certificate calls it. */
const GROUP = 'controlplane';
/** Streams of proxies never end by themselves: what may still end in this time are requests. */
const STOP_GRACE_MS = 500;

const exit = exitOf('controlplane');
const config = await orExit(exit, () => readConfig(process.env));
const log = serviceLog(config.logLevel);
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
const { random } = Math;
const cluster = config.kubernetes && (await orExit(exit, () => connectCluster(config.kubernetes)));
let kubernetesStatus: KubernetesStatus | undefined;
const changed = () => kubernetesStatus?.changed();
const plane = await controlPlane({ config, store, metrics, log, changed, now: Date.now, after });
const resources = await orExit(
  exit,
  () =>
    watchResources({
      folders: config.resources,
      from: process.cwd(),
      parse: config,
      kubernetes: cluster && { cluster, namespaces: config.kubernetes?.namespaces },
      inForce: () => plane.inForce(),
      onChange: reading => plane.read(reading),
      onTrouble: reason => log.error({ reason }, 'waits until all resources are read'),
      onThreadEnd: err =>
        log.error(
          { err },
          'the thread that parses resources has ended, another is started when it is wanted',
        ),
      onStatus: changed,
      after,
      random,
    }),
  'RESOURCES',
);
kubernetesStatus =
  cluster &&
  writeKubernetesStatus({
    cluster,
    group: config.apiGroups[0] ?? '',
    gatewayId: config.gatewayId,
    facts: () => plane.objectFacts(),
    objects: () => resources.objects(),
    metrics,
    log,
    now: Date.now,
    after,
    random,
  });

const grpc = await serve({ ...config.xds, services: plane.services, tls: tls?.server() }).catch(
  (error: Error) =>
    exit(`XDS_ADDRESS: cannot listen on ${config.xds.host} port ${config.xds.port}: ${error.message}`),
);
grpc.setServing(true);
const waiting = () => {
  const reason = resources.waiting();
  return reason === undefined ? undefined : ({ ready: false, reason } as const);
};
const readiness = () => waiting() ?? plane.readiness();
const status = () => ({ ...plane.status(), ...waiting() });
const admin = http.createServer(
  httpApp({ readiness, status, explain: plane.explain, metrics: metrics.registry }),
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
log.info(
  { xds: grpc.port, http: admin.address(), resources: config.resources, kubernetes: cluster?.server },
  'listening',
);
process.send?.({ ready: true });

function pause(ms: number): Promise<void> {
  return new Promise(resolve => void after(ms, resolve));
}

/** Ends within a second and exits 0; another signal ends the process at once. */
async function stop(reason: string): Promise<void> {
  log.info({ reason }, 'stopping');
  resources.close();
  admin.close();
  admin.closeAllConnections();
  await Promise.race([kubernetesStatus?.close(), pause(STOP_GRACE_MS)]);
  await plane.stop();
  await grpc.stop(STOP_GRACE_MS);
  tls?.close();
  process.exit(0);
}
