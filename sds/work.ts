import { fileDrainedStore } from '#files/drained-store.ts';
import { checkState } from '#files/state-mark.ts';
import { connectCluster } from '#kubernetes/cluster.ts';
import { after } from '#process/after.ts';
import { orExit } from '#process/exit.ts';
import { type Following, followControlPlane } from '#process/follow-control-plane.ts';
import { type MutualTls, openMutualTls } from '#process/mutual-tls.ts';
import type { OrderTaker } from '#process/orders.ts';
import { servePlainHttp } from '#process/plain-http.ts';
import type { Report } from '#process/reporter.ts';
import type { ServiceParts, Started } from '#process/run-service.ts';
import { SERVED_SECRET } from '#protos/type-url.ts';
import type { Config } from './config.ts';
import { discoveryOrders } from './discovery-orders.ts';
import { type FileReports, fileReports } from './file-reports.ts';
import { drainOrders } from './instances/drain-orders.ts';
import { type DrainedSource, drainedSource } from './instances/drained-source.ts';
import { fileSource } from './instances/file-source.ts';
import type { InstanceSource } from './instances/instance-source.ts';
import { keptFileContent } from './instances/kept-file-content.ts';
import { kubernetesReports } from './instances/kubernetes/kubernetes-reports.ts';
import { kubernetesSource } from './instances/kubernetes/kubernetes-source.ts';
import type { KubernetesConfig } from './instances/kubernetes/read-kubernetes-config.ts';
import { mergedSource } from './instances/merged-source.ts';
import { dnsResolver } from './instances/resolve-records.ts';
import { systemLookup } from './instances/system-lookup.ts';
import { unresolvedFindings } from './instances/unresolved-names.ts';
import { watchDns } from './instances/watch-dns.ts';
import { joinedReport } from './joined-report.ts';
import { knowledgeMethods } from './knowledge.ts';
import { dnsReports } from './log-sources.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import type { SecretsConfig } from './secrets/read-secrets-config.ts';
import { createSecretMetrics } from './secrets/secret-metrics.ts';
import type { Secrets } from './secrets/secrets.ts';
import { startSecrets } from './secrets/start-secrets.ts';
import { startServer } from './server.ts';

/**
 * The group that the control plane sends secrets to. The certificate of this service carries it.
 */
const GROUP = 'sds';
const DNS_TIMEOUT_MS = 5_000;
/** Streams of proxies never end by themselves. Only requests can end in this time. */
const STOP_GRACE_MS = 500;

type Parts = ServiceParts<Config> & { readonly metrics: Metrics };

/** Starts discovery: the sources of instances, the secrets, and the port that serves both. */
export async function work(given: ServiceParts<Config>): Promise<Started> {
  const parts = { ...given, metrics: createMetrics() };
  const { config, exit, log, metrics } = parts;
  const { secrets: secretsConfig, instancesFiles, instancesKubernetes, stateFolder } = config;
  // What is kept of the files is marked with the first write, because sds runs without, too.
  if (instancesFiles.length > 0) await orExit(exit, () => checkState(stateFolder), 'STATE');
  // The certificate of this port may be an identity that is written here.
  const secrets = secretsConfig && (await orExit(exit, () => openSecrets(secretsConfig, parts)));
  const tls = await orExit(exit, () => openIdentity(config, parts));
  const kubernetes =
    instancesKubernetes && (await orExit(exit, () => openKubernetes(instancesKubernetes, parts)));
  const found = joinedReport();
  const files = instancesFiles.map(path => ({
    path,
    reports: fileReports(path, { log, metrics, report: found.part() }),
  }));
  const fileProblems = () => files.flatMap(({ reports }) => reports.problems());
  const sources = [
    ...files.map(({ path, reports }) => openFile(path, reports, parts, found.part())),
    ...(kubernetes === undefined ? [] : [kubernetes.source]),
  ];
  const { host, port } = config;
  secrets?.onFindings(found.part());
  const source = sources.length === 0 ? undefined : drainedSource(mergedSource(sources));
  const drains = secretsConfig && openDrains(secretsConfig, source, log);
  const server = await startServer({
    host,
    port,
    source,
    sourcesStatus: () => ({
      ...{ files: instancesFiles, file_problems: fileProblems() },
      kubernetes: kubernetes?.status(),
    }),
    whyNotKnown: fileProblems,
    secrets,
    knowledge: knowledgeMethods(source, secrets),
    onMissed: found.part(),
    tls: tls?.server(),
    metrics,
    log,
    now: Date.now,
    after,
  }).catch((error: Error) =>
    exit(`ADDRESS: cannot listen on ${host} port ${port}: ${error.message}`),
  );
  const http = config.http && (await servePlainHttp(server.http, config.http, exit));
  const following =
    drains && secrets && follow(secretsConfig, discoveryOrders(drains, secrets), secrets, tls, log);
  if (following) found.sendBy(following.report);
  return {
    facts: { address: server.address, port: server.port, http: http?.port, files: instancesFiles },
    ready: { address: server.address, port: server.port },
    stop: async () => {
      following?.close();
      http?.close();
      await server.stop(STOP_GRACE_MS);
      secrets?.close();
      tls?.close();
    },
  };
}

function openFile(
  path: string,
  { onRead }: FileReports,
  { config, log, metrics }: Parts,
  report: Report,
): InstanceSource {
  const resolve = dnsResolver({
    servers: config.dnsServers,
    timeoutMs: DNS_TIMEOUT_MS,
    lookup: systemLookup,
  });
  const onQueried = dnsReports(log.child({ file: path }), metrics);
  const watchName = watchDns({ resolve, after, maxTtlSeconds: config.dnsMaxTtlSeconds, onQueried });
  return fileSource({
    ...{ path, watchName, after },
    kept: keptFileContent(config.stateFolder, path, log),
    onRead,
    onUnresolved: services => report(() => unresolvedFindings(path, services)),
  });
}

async function openKubernetes(
  { kubeconfig, namespaces }: KubernetesConfig,
  { log, metrics }: Parts,
) {
  const reports = kubernetesReports(log, metrics.registry, Date.now);
  const cluster = await connectCluster({ kubeconfig });
  const source = kubernetesSource({ cluster, namespaces, reports, after, random: Math.random });
  return { source, status: reports.status };
}

function openSecrets(config: SecretsConfig, { log, metrics }: Parts): Promise<Secrets> {
  return startSecrets({
    config,
    clock: { now: Date.now, random: Math.random, after },
    metrics: createSecretMetrics(metrics.registry, Date.now),
    log,
  });
}

async function openIdentity(
  { secrets, tlsFolder }: Config,
  { log }: Parts,
): Promise<MutualTls | undefined> {
  if (tlsFolder === undefined) return undefined;
  return openMutualTls(tlsFolder, {
    group: GROUP,
    trustDomain: secrets?.trustDomain,
    log,
    now: Date.now,
  });
}

/** Drains at once what was drained before, since the control plane may be away. */
function openDrains(
  { authoritySecret, drainedFile }: SecretsConfig,
  source: DrainedSource | undefined,
  log: Parts['log'],
): OrderTaker {
  const store = authoritySecret === undefined ? fileDrainedStore(drainedFile, log) : undefined;
  return drainOrders(source, store, log);
}

/** What the control plane sent last stays in force while it is away. */
function follow(
  { reportTo, xds }: SecretsConfig,
  orders: OrderTaker,
  secrets: Secrets,
  tls: MutualTls | undefined,
  log: Parts['log'],
): Following {
  return followControlPlane({
    group: GROUP,
    xds,
    tls,
    typeUrls: [SERVED_SECRET],
    what: 'secrets',
    onUpdate: update => secrets.update(update),
    orders,
    reportTo,
    log,
  });
}
