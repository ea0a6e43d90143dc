import { hostname } from 'node:os';
import { credentials } from '@grpc/grpc-js';
import { formatHostPort } from '#grpc/host-port.ts';
import { connectCluster } from '#kubernetes/cluster.ts';
import { after } from '#process/after.ts';
import { exitOf, orExit } from '#process/exit.ts';
import { type MutualTls, openMutualTls } from '#process/mutual-tls.ts';
import { servePlainHttp } from '#process/plain-http.ts';
import { ReportEverywhere } from '#process/report-everywhere.ts';
import { reporter } from '#process/reporter.ts';
import { serviceLog } from '#process/service-log.ts';
import { SERVED_SECRET } from '#protos/type-url.ts';
import { connect } from '#xds/client.ts';
import { readConfig } from './config.ts';
import { fileSource } from './instances/file-source.ts';
import type { InstanceSource } from './instances/instance-source.ts';
import { kubernetesReports } from './instances/kubernetes/kubernetes-reports.ts';
import { kubernetesSource } from './instances/kubernetes/kubernetes-source.ts';
import type { KubernetesConfig } from './instances/kubernetes/read-kubernetes-config.ts';
import { mergedSource } from './instances/merged-source.ts';
import { dnsResolver } from './instances/resolve-records.ts';
import { systemLookup } from './instances/system-lookup.ts';
import { watchDns } from './instances/watch-dns.ts';
import { dnsReports, fileReports } from './log-sources.ts';
import { createMetrics } from './metrics.ts';
import type { SecretsConfig } from './secrets/read-secrets-config.ts';
import { createSecretMetrics } from './secrets/secret-metrics.ts';
import type { Secrets } from './secrets/secrets.ts';
import { startSecrets } from './secrets/start-secrets.ts';
import { startServer } from './server.ts';

/** Our own name, by which the control plane sends what is to be served, and which our certificate carries. */
const GROUP = 'sds';
const CONTROL_PLANE = 'controlplane';

const DNS_TIMEOUT_MS = 5_000;
/** Streams of proxies never end by themselves: what may still end in this time are requests. */
const STOP_GRACE_MS = 500;

const exit = exitOf('sds');
const config = await orExit(exit, () => readConfig(process.env));
const log = serviceLog(config.logLevel);
const metrics = createMetrics();

// What this port proves itself by may be an identity that is written here.
const secrets = config.secrets && (await orExit(exit, () => openOwn(config.secrets as SecretsConfig)));
const tls = await orExit(exit, () => openIdentity(config.tlsFolder));
const { host, port, instancesFiles, instancesKubernetes } = config;
const kubernetes = instancesKubernetes && (await orExit(exit, () => openKubernetes(instancesKubernetes)));
const sources = [...instancesFiles.map(openFile), ...(kubernetes === undefined ? [] : [kubernetes.source])];
const server = await startServer({
  host,
  port,
  source: sources.length === 0 ? undefined : mergedSource(sources),
  sourcesStatus: () => ({ files: instancesFiles, kubernetes: kubernetes?.status() }),
  secrets,
  tls: tls?.server(),
  metrics,
  log,
  now: Date.now,
  after,
}).catch((error: Error) => exit(`ADDRESS: cannot listen on ${host} port ${port}: ${error.message}`));
const http = config.http && (await servePlainHttp(server.http, config.http, exit));
const connection = config.secrets && secrets && followControlPlane(config.secrets, secrets);

process.once('SIGTERM', stop);
process.once('SIGINT', stop);
process.once('disconnect', stop); // the supervisor that held the other end of the IPC channel is gone
log.info(
  { address: server.address, port: server.port, http: http?.port, files: instancesFiles },
  'listening',
);
process.send?.({ ready: true, address: server.address, port: server.port });

/** Ends within a second and exits 0; another signal ends the process at once. */
async function stop(reason: string): Promise<void> {
  log.info({ reason }, 'stopping');
  connection?.close();
  http?.close();
  await server.stop(STOP_GRACE_MS);
  secrets?.close();
  tls?.close();
  process.exit(0);
}

function openFile(path: string): InstanceSource {
  const resolve = dnsResolver({
    servers: config.dnsServers,
    timeoutMs: DNS_TIMEOUT_MS,
    lookup: systemLookup,
  });
  const onQueried = dnsReports(log, metrics);
  const watchName = watchDns({ resolve, after, maxTtlSeconds: config.dnsMaxTtlSeconds, onQueried });
  return fileSource({ path, watchName, ...fileReports(path, log, metrics) });
}

async function openKubernetes({ kubeconfig, namespaces }: KubernetesConfig) {
  const reports = kubernetesReports(log, metrics.registry, Date.now);
  const cluster = await connectCluster({ kubeconfig });
  const source = kubernetesSource({ cluster, namespaces, reports, after, random: Math.random });
  return { source, status: reports.status };
}

function openOwn(secretsConfig: SecretsConfig): Promise<Secrets> {
  return startSecrets({
    config: secretsConfig,
    clock: { now: Date.now, random: Math.random, after },
    metrics: createSecretMetrics(metrics.registry, Date.now),
    log,
  });
}

async function openIdentity(folder: string | undefined): Promise<MutualTls | undefined> {
  if (folder === undefined) return undefined;
  const opened = await openMutualTls(folder, { group: GROUP, log, now: Date.now });
  const { trustDomain = opened.trustDomain } = config.secrets ?? {};
  if (trustDomain === opened.trustDomain) return opened;
  throw new Error(
    `TRUST_DOMAIN is "${trustDomain}", but the certificate in TLS_FOLDER is of "${opened.trustDomain}"`,
  );
}

/** What it said last stays in force while it is away. */
function followControlPlane({ reportTo, xds }: SecretsConfig, served: Secrets) {
  const client = {
    credentials: tls?.client(CONTROL_PLANE) ?? credentials.createInsecure(),
    node: { id: `${hostname()}-${process.pid}`, cluster: GROUP },
    random: Math.random,
    after,
  };
  const following = connect({
    ...client,
    address: formatHostPort(xds),
    typeUrls: [SERVED_SECRET],
    onUpdate: update => served.update(update),
    onDisconnect: reason =>
      log.warn({ controlPlane: formatHostPort(xds), reason }, 'no control plane, secrets stay'),
    onReconnect: () => log.info({ controlPlane: formatHostPort(xds) }, 'the control plane is back'),
  });
  const everywhere = new ReportEverywhere({ ...client, followed: following, servers: reportTo, log });
  served.onFindings(reporter({ send: report => everywhere.send(report), after }));
  return {
    close: () => {
      everywhere.close();
      following.close();
    },
  };
}
