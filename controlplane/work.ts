import type { Server } from 'node:http';
import { join } from 'node:path';
import { SDS } from '#controlplane/compile/node-groups.ts';
import { type Console, openConsole } from '#controlplane/console/console.ts';
import type { KubernetesEdges } from '#controlplane/edges/kubernetes-edges.ts';
import { FIGURES_DEFINITIONS } from '#controlplane/figures/figures-service.ts';
import { type Knowledge, openKnowledge } from '#controlplane/knowledge/knowledge.ts';
import { type SharedDrains, shareDrains } from '#controlplane/orders/shared-drains.ts';
import { fileLastGoodStore } from '#controlplane/rollout/last-good-store.ts';
import { makeStateFolder } from '#controlplane/rollout/state-folder.ts';
import { type Sources, watchResources } from '#controlplane/sources/resource-sources.ts';
import type { GatewayStatusParts } from '#controlplane/status/gateway-status-writes.ts';
import {
  type KubernetesStatus,
  writeKubernetesStatus,
} from '#controlplane/status/kubernetes-status.ts';
import { createMetrics, type Metrics } from '#controlplane/status/metrics.ts';
import { objectName } from '#controlplane/status/status-lease-name.ts';
import type { Drained } from '#files/drained-store.ts';
import { lockState } from '#files/state-lock.ts';
import { markState } from '#files/state-mark.ts';
import { createHttpServer } from '#grpc/http-server.ts';
import { type Served, serve } from '#grpc/serve.ts';
import { type Cluster, connectCluster } from '#kubernetes/cluster.ts';
import { after } from '#process/after.ts';
import { orExit } from '#process/exit.ts';
import { type MutualTls, openMutualTls } from '#process/mutual-tls.ts';
import type { ServiceParts, Started } from '#process/run-service.ts';
import { Parser } from '#resources/parse/parse.ts';
import { DISCOVERY } from '#xds/discovery-methods.ts';
import type { Config } from './config.ts';
import { type ControlPlane, controlPlane } from './control-plane.ts';
import type { GatewayEdgesParts } from './gateway-edges.ts';
import { compileOptions } from './group-compiler.ts';
import { httpApp } from './http.ts';
import { leaseHolder } from './lease-holder.ts';

/** The group in its certificate. */
const GROUP = 'controlplane';
/** Streams of proxies never end by themselves. Requests may still end in this time. */
const STOP_GRACE_MS = 500;

type Parts = ServiceParts<Config>;

/**
 * Starts the control plane: the sources of resources, the port for proxies, the pages over HTTP.
 */
export async function work(parts: Parts): Promise<Started> {
  const { config, exit, log } = parts;
  await orExit(exit, () => makeStateFolder(config.state));
  await orExit(exit, () => lockState(config.state, 'control plane'), 'STATE');
  await orExit(exit, () => markState(config.state), 'STATE');
  const tls = await orExit(exit, () => openTls(parts));
  const holder = leaseHolder(config.state);
  const store = fileLastGoodStore(join(config.state, 'last-good.json'));
  const parser = new Parser(config);
  const metrics = createMetrics(() => plane.status());
  const cluster =
    config.kubernetes && (await orExit(exit, () => connectCluster(config.kubernetes)));
  let reports: KubernetesStatus | undefined;
  let edges: KubernetesEdges | undefined;
  let consoled: Console | undefined;
  let drains: SharedDrains | undefined;
  const changed = () => {
    reports?.changed();
    edges?.changed();
    consoled?.changed();
  };
  const knowledge = openKnowledge({
    ...config,
    ...(tls && { credentials: group => tls.client(group) }),
  });
  const plane = await controlPlane({
    config,
    keySets: () => knowledge.keySets(),
    parser,
    store,
    metrics,
    log,
    changed,
    edges: () => edges?.troubles() ?? [],
    statusTroubles: () => reports?.troubles() ?? [],
    ...(cluster && { shareDrain: async (...drain) => drains?.share(...drain) }),
    now: Date.now,
    after,
  });
  drains = cluster && shareDrainsIn(parts, plane, cluster);
  // What is read has its time until proxies get it. Services come back from now on.
  const grpc = await listen(parts, plane, tls);
  const resources = await orExit(
    exit,
    () => watch(parts, { parser, plane, cluster, changed }),
    'RESOURCES',
  );
  const writtenElsewhere = () => reports?.writtenElsewhere() === true;
  edges = cluster && (await openEdges(parts, plane, { cluster, holder, writtenElsewhere }));
  edges?.changed();
  const edgeOf = edgeIn(config, edges);
  reports = cluster && report(parts, { plane, resources, cluster, holder, metrics, edgeOf });
  consoled = console(parts, plane, knowledge, edgeOf);
  const admin = await serveHttp(parts, { plane, resources, metrics, console: consoled });
  return {
    facts: {
      xds: grpc.port,
      http: admin.address(),
      resources: config.resources,
      kubernetes: cluster?.server,
    },
    stop: async () => {
      resources.close();
      drains?.close();
      consoled?.close();
      knowledge.close();
      admin.close();
      admin.closeAllConnections();
      const closed = Promise.all([reports?.close(), edges?.close()]);
      await Promise.race([closed, pause(STOP_GRACE_MS)]);
      await plane.stop();
      await grpc.stop(STOP_GRACE_MS);
      tls?.close();
    },
  };
}

/** Without Kubernetes there are none, and their modules are not loaded. */
async function openEdges(
  { config, log }: Parts,
  plane: ControlPlane,
  where: Pick<GatewayEdgesParts, 'cluster' | 'holder' | 'writtenElsewhere'>,
): Promise<KubernetesEdges> {
  const { openGatewayEdges } = await import('./gateway-edges.ts');
  return openGatewayEdges({ config, log, plane, ...where, changed: plane.edgesChanged });
}

function shareDrainsIn(
  { config: { gatewayId }, log }: Parts,
  { orders }: ControlPlane,
  cluster: Cluster,
): SharedDrains {
  const name = objectName('gateway-drained', gatewayId);
  const take = (drained: readonly Drained[]) => orders.take(SDS, drained);
  return shareDrains({ cluster, name, take, log, after, random: Math.random });
}

async function openTls({ config, log }: Parts): Promise<MutualTls | undefined> {
  const { tlsFolder, trustDomain } = config;
  if (tlsFolder === undefined) return undefined;
  return openMutualTls(tlsFolder, { group: GROUP, trustDomain, log, now: Date.now });
}

/** What reads resources, and what is informed. */
type Watching = {
  readonly parser: Parser;
  readonly plane: ControlPlane;
  readonly cluster: Cluster | undefined;
  changed(): void;
};

function watch({ config, log }: Parts, { parser, plane, cluster, changed }: Watching): Sources {
  return watchResources({
    folders: config.resources,
    from: process.cwd(),
    parser,
    secrets: {
      environment: process.env,
      variables: config.secretVariables,
      folders: config.secretFiles,
    },
    kubernetes: cluster && { cluster, namespaces: config.kubernetes?.namespaces },
    controller: config.gateways.controller,
    inForce: () => plane.inForce(),
    onChange: reading => plane.read(reading),
    onTrouble: reason => log.error({ reason }, 'waits until all resources are read'),
    onThreadEnd: err => log.error({ err }, THREAD_END),
    onStatus: changed,
    after,
    random: Math.random,
  });
}

const THREAD_END = 'the thread that parses resources has ended, and starts again on demand';

/** What serves, and what is informed. */
type Serving = {
  readonly plane: ControlPlane;
  readonly resources: Sources;
  readonly metrics: Metrics;
  readonly console?: Console | undefined;
};

/** Opens the console to those who may see it. */
function console(
  { config, log }: Parts,
  plane: ControlPlane,
  knowledge: Knowledge,
  edgeOf: EdgeOf,
): Console | undefined {
  if (config.console === 'off') {
    log.info({}, CONSOLE_OFF);
    return undefined;
  }
  const { changes, diff, explain, figures, resources, status } = plane;
  const facts = { changes, diff, explain, figures, resources, status };
  const options = compileOptions(config);
  return openConsole({
    facts: {
      ...{ ...facts, options, knowledge, edgeOf, drained: () => plane.orders.drained },
    },
    orders: plane.orders,
    log,
    config: config.console,
    now: Date.now,
    after,
  });
}

const CONSOLE_OFF =
  'the console is off: it is open where HTTP_ADDRESS is a loopback address, and CONSOLE=login turns it on behind a login';

function report(
  { config, log }: Parts,
  {
    plane,
    resources,
    cluster,
    holder,
    metrics,
    edgeOf,
  }: Serving & { readonly cluster: Cluster; readonly holder: string; readonly edgeOf: EdgeOf },
): KubernetesStatus {
  return writeKubernetesStatus({
    cluster,
    namespaces: config.kubernetes?.namespaces,
    group: config.apiGroups[0] ?? '',
    gatewayId: config.gatewayId,
    holder,
    facts: () => plane.objectFacts(),
    objects: () => resources.objects(),
    gateways: { options: config.gateways, edgeOf },
    metrics,
    log,
    now: Date.now,
    after,
    random: Math.random,
  });
}

type EdgeOf = GatewayStatusParts['edgeOf'];

/** Returns what tells where a Gateway is reached. Without a cluster that is where the edge is. */
function edgeIn({ edge }: Config, edges: KubernetesEdges | undefined): EdgeOf {
  if (edges === undefined)
    return () => ({
      addresses: [{ type: 'IPAddress', value: edge.host, routability: '' }],
      missing: [],
    });
  return id => {
    const known = edges.addressesOf(id) ?? { addresses: [], missing: [] };
    return { ...(known === 'unread' ? UNREAD : known), trouble: edges.troubleOf(id) };
  };
}

const UNREAD = { addresses: undefined, missing: [] };

async function listen(
  { config, exit }: Parts,
  plane: ControlPlane,
  tls: MutualTls | undefined,
): Promise<Served> {
  const { xds } = config;
  const grpc = await serve({
    ...xds,
    services: plane.services,
    ...DISCOVERY,
    definitions: { ...DISCOVERY.definitions, ...FIGURES_DEFINITIONS },
    tls: tls?.server(),
  }).catch((error: Error) =>
    exit(`XDS_ADDRESS: cannot listen on ${xds.host} port ${xds.port}: ${error.message}`),
  );
  grpc.setServing(true);
  return grpc;
}

async function serveHttp(
  { config: { http: at }, exit, log }: Parts,
  { plane, resources, metrics, console }: Serving,
): Promise<Server> {
  const waiting = () => {
    const reason = resources.waiting();
    return reason === undefined ? undefined : ({ ready: false, reason } as const);
  };
  const readiness = () => waiting() ?? plane.readiness();
  const status = () => ({ ...plane.status(), ...waiting() });
  const { explain, diff } = plane;
  const pages = { metrics: metrics.registry, console: console?.router };
  const onError = (err: unknown) => log.error({ err }, 'an HTTP request failed');
  const { figures } = plane;
  const app = httpApp({ readiness, status, figures, explain, diff, ...pages, onError });
  const admin = createHttpServer(app);
  await new Promise<void>((resolve, reject) => {
    admin.once('error', reject);
    admin.listen(at.port, at.host, resolve);
  }).catch((error: Error) =>
    exit(`HTTP_ADDRESS: cannot listen on ${at.host} port ${at.port}: ${error.message}`),
  );
  return admin;
}

function pause(ms: number): Promise<void> {
  return new Promise(resolve => void after(ms, resolve));
}
