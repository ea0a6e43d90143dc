import type {
  BackendTarget,
  ClosedListener,
  ServedGateway,
  ServedListener,
  ServedRoute,
  ServedRule,
} from '#controlplane/gateway-api/served-gateway.ts';
import { isJsonObject, type Json, type JsonObject, objectsIn } from '#protos/json.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import type { NamedCluster } from '../clusters/cluster-names.ts';
import { hopOf } from '../clusters/hop.ts';
import type { CompiledResource } from '../compiled.ts';
import type { Edge } from '../edge.ts';
import { identityHeadersAmong } from '../ext-authz/injected-by-filters.ts';
import { holds } from '../listeners/error-pages.ts';
import { httpConnectionManager } from '../listeners/http-connection-manager.ts';
import type { ServedPort } from '../listeners/listener.ts';
import type { Memo } from '../memo.ts';
import { type CompileOptions, DEFAULT_CA_FILE } from '../options.ts';
import { PASSED_HEADER } from '../passed-header.ts';
import { toRouteConfiguration } from '../routes/route-configuration.ts';
import { statName } from '../stat-name.ts';
import { type BackendContext, backendCluster } from './backend-cluster.ts';
import { backendClusterName, type Carried } from './backend-cluster-name.ts';
import { externalCarried } from './external-auth-filter.ts';
import { tcpChains, udpDatagrams } from './gateway-listeners.ts';
import { listenerHosts, type PartsOf } from './listener-hosts.ts';
import { placedStages } from './listener-stages.ts';
import { EXTERNALS_HEADER, externalFilters } from './rule-externals.ts';
import { targetsOf } from './rule-routes.ts';
import { SESSION_FILTER } from './rule-session.ts';
import { stageFilters } from './stage-filters.ts';

/** What Gateways add to the configuration of a node group's proxies. */
export type GatewayParts = {
  readonly clusters: readonly NamedCluster[];
  readonly routes: readonly CompiledResource[];
  readonly ports: readonly ServedPort[];
};

export type GatewayInputs = {
  readonly resources: ResourceSet;
  readonly options: CompileOptions;
  readonly edge: Edge;
  readonly hosts: PartsOf;
  readonly memo: Memo;
};

/**
 * Returns the ports of these Gateways, the routes and the clusters that they name. A port
 * is one listener. Without TLS it has one table of routes, and over TLS each hostname has its own.
 */
export function gatewayParts(
  group: string,
  gateways: readonly ServedGateway[],
  inputs: GatewayInputs,
): GatewayParts {
  const listeners = gateways.flatMap(gateway => gateway.listeners);
  const closed = gateways.flatMap(gateway => gateway.closed);
  const ports = [...Map.groupBy(listeners, placeOf)].map(([, all]) =>
    portParts(group, toPort(distinctHosts(all), closed), inputs),
  );
  return {
    clusters: clustersOf(listeners, inputs),
    routes: ports.flatMap(({ routes }) => routes),
    ports: ports.flatMap(({ port }) => port ?? []),
  };
}

function placeOf({ port, protocol }: ServedListener): string {
  return protocol === 'UDP' ? `${port}/udp` : String(port);
}

/** Where Gateways share an edge, the hostname of a port is the first Gateway's. */
function distinctHosts(listeners: readonly ServedListener[]): readonly ServedListener[] {
  const found = new Map<string, ServedListener>();
  for (const listener of listeners) {
    const key = `${listener.protocol} ${listener.hostname}`;
    if (!found.has(key)) found.set(key, listener);
  }
  return [...found.values()];
}

/** The listeners of a port, and those that were to be there too. */
type ListenersOfPort = {
  readonly listeners: readonly ServedListener[];
  readonly closed: readonly ClosedListener[];
};

/** A host that one listener serves is open, whatever another was to do with it. */
function toPort(
  listeners: readonly ServedListener[],
  closed: readonly ClosedListener[],
): ListenersOfPort {
  const hosts = new Set(listeners.map(({ hostname }) => hostname));
  const port = listeners[0]?.port;
  return {
    listeners,
    closed: closed.filter(each => each.port === port && !hosts.has(each.hostname)),
  };
}

type PortParts = {
  readonly port: ServedPort | undefined;
  readonly routes: readonly CompiledResource[];
};

function portParts(
  group: string,
  { closed, listeners }: ListenersOfPort,
  inputs: GatewayInputs,
): PortParts {
  const { edge, options } = inputs;
  const [first] = listeners;
  if (first === undefined) throw new Error('a port without listeners');
  const address = { host: options.edge.host, port: first.port };
  const origins = [...listeners, ...closed].map(({ origin }) => origin);
  if (first.protocol === 'UDP') {
    const datagrams = udpDatagrams(listeners);
    return { port: datagrams && { address, datagrams, origins }, routes: [] };
  }
  const closedHosts = closed.map(({ hostname }) => hostname);
  const tables = tablesOf(group, listeners, closedHosts);
  const managerOf = (listener: ServedListener | undefined) => {
    const found = tables.find(table => table.listener === listener);
    const own = found?.own ?? [];
    const beforeRoute = stageFilters(own, edge.limits.listener);
    const externals = externalFilters(own.flatMap(rulesOf), inputs.memo);
    const manager = httpConnectionManager(
      group,
      {
        ...edge.limits.listener,
        ...(beforeRoute === undefined ? {} : { beforeRoute }),
        ...(externals === undefined ? {} : { marks: [externals.mark] }),
        behindFilters: [...(externals?.filters ?? []), SESSION_FILTER],
        // A client could skip filters that other connections of the port have.
        passedHeaders: INNER_HEADERS,
      },
      chainOf(listener),
      undefined,
      found?.name,
    );
    return withPlainHeads(manager);
  };
  return {
    port: {
      address,
      chains: tcpChains(listeners, closedHosts, managerOf),
      origins: [...origins, ...edge.limits.listener.origins],
    },
    routes: tables.map(table => routeTable(table, inputs)),
  };
}

/** One table of routes: its name, and which listeners' requests it is for. */
type Table = {
  readonly name: string;
  /** The listener whose TLS its connections use. Undefined: they use none. */
  readonly listener: ServedListener | undefined;
  readonly own: readonly ServedListener[];
  /** The hostnames of listeners whose requests it is not for. */
  readonly others: readonly string[];
};

function tablesOf(
  group: string,
  listeners: readonly ServedListener[],
  closed: readonly string[],
): readonly Table[] {
  const plain = listeners.filter(({ protocol }) => protocol === 'HTTP');
  const secure = listeners.filter(({ protocol }) => protocol === 'HTTPS');
  const [first] = plain;
  return [
    ...(first === undefined
      ? []
      : [{ name: `${group}:${first.port}`, listener: undefined, own: plain, others: closed }]),
    ...secure.map(listener => ({
      name: `${group}:${listener.port}/${statName(listener.hostname)}`,
      listener,
      own: [listener],
      others: [
        ...secure.filter(other => other !== listener).map(({ hostname }) => hostname),
        ...closed,
      ],
    })),
  ];
}

function routeTable({ name, others, own }: Table, inputs: GatewayInputs): CompiledResource {
  const { edge, hosts, memo, resources } = inputs;
  const [first] = own;
  const scheme = first?.protocol === 'HTTPS' ? 'https' : 'http';
  const context = {
    asked: { port: first?.port ?? 0, scheme },
    labellings: edge.limits.labellings,
    identityHeadersOf: identityHeadersAmong(resources.filters),
  } as const;
  const virtualHosts = listenerHosts(own, others, context, hosts, memo);
  const ids = own.flatMap(({ origin, routes }) => [
    origin,
    ...routes.flatMap(({ route, rules }) => [route.id, ...limitIds(rules)]),
  ]);
  const configuration = toRouteConfiguration(name, true, virtualHosts, resources.config);
  return {
    name,
    // A cluster that does not exist answers 500 for a backend that is not resolved.
    json: { ...withoutInner(configuration, own), validate_clusters: false },
    origins: [...new Set([...ids, ...edge.routeOrigins])],
  };
}

/** No service gets the headers by which routes know what decides about a request. */
function withoutInner(table: JsonObject, own: readonly ServedListener[]): JsonObject {
  const isPassed = own.some(({ filters }) => placedStages(filters).length > 0);
  const asks = own.flatMap(rulesOf).some(({ externals }) => externals.length > 0);
  const inner = [...(asks ? [EXTERNALS_HEADER] : []), ...(isPassed ? [PASSED_HEADER] : [])];
  if (inner.length === 0) return table;
  const { request_headers_to_remove: removed } = table;
  const others = Array.isArray(removed) ? (removed as readonly Json[]) : [];
  return { ...table, request_headers_to_remove: [...others, ...inner] };
}

const INNER_HEADERS = [EXTERNALS_HEADER, PASSED_HEADER];

function rulesOf({ routes }: ServedListener): readonly ServedRule<unknown>[] {
  return routes.flatMap((served): readonly ServedRule<unknown>[] => served.rules);
}

function limitIds(rules: readonly ServedRule<unknown>[]): readonly string[] {
  return rules.flatMap(({ limits }) => limits.map(({ id }) => id));
}

function chainOf(listener: ServedListener | undefined) {
  if (listener === undefined) return undefined;
  const { hostname, tls } = listener;
  return {
    mark: hostname,
    hasClientCertificates: tls?.clients !== undefined,
    host: { hostname },
  };
}

const CARRIED: Readonly<Record<ServedRoute['kind'], Carried>> = {
  HTTPRoute: 'http',
  GRPCRoute: 'grpc',
  TLSRoute: 'bytes',
  TCPRoute: 'bytes',
  UDPRoute: 'bytes',
};

/** Returns the cluster of each backend, for the ids of the resources that use it. */
function clustersOf(
  listeners: readonly ServedListener[],
  { options, resources }: GatewayInputs,
): readonly NamedCluster[] {
  const { knowsServices, services } = resources;
  const context: BackendContext = {
    ...{ knowsServices, services, hop: hopOf(options) },
    caFile: options.caFile ?? DEFAULT_CA_FILE,
  };
  const users = new Map<
    string,
    { readonly make: () => NamedCluster['json']; readonly ids: Set<string> }
  >();
  const use = (target: BackendTarget, carried: Carried, id: string) => {
    const name = backendClusterName(target, carried);
    const known = users.get(name) ?? {
      make: () => backendCluster(target, carried, context),
      ids: new Set(),
    };
    known.ids.add(id);
    users.set(name, known);
  };
  for (const served of listeners.flatMap(({ routes }) => routes))
    for (const target of targetsOf(served)) use(target, CARRIED[served.kind], served.route.id);
  for (const { route, rules } of listeners.flatMap(({ routes }) => routes))
    for (const stage of rules.flatMap(({ externals }) => externals))
      use(stage.target, externalCarried(stage), route.id);
  for (const { filters, origin } of listeners)
    for (const { stage } of placedStages(filters))
      if ('external' in stage) use(stage.target, externalCarried(stage), origin);
  return [...users].map(([name, { ids, make }]) => ({ name, json: make(), origins: [...ids] }));
}

/**
 * The page of an error is JSON. Clients that parse what says so, whatever the method, get no such
 * type for a HEAD of what is not found.
 */
function withPlainHeads(manager: JsonObject): JsonObject {
  const { local_reply_config: config } = manager;
  const mappers = isJsonObject(config) ? objectsIn(config.mappers) : [];
  return { ...manager, local_reply_config: { mappers: [PLAIN_HEAD, ...mappers] } };
}

const PLAIN_HEAD: JsonObject = {
  filter: holds("request.method == 'HEAD' && response.code == 404"),
};
