import { restOf } from '#controlplane/gateway-api/rest-of.ts';
import type { ServedGateway } from '#controlplane/gateway-api/served-gateway.ts';
import type { JsonObject } from '#protos/json.ts';
import { CLUSTER, LISTENER, ROUTE_CONFIGURATION } from '#protos/type-url.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { distinct } from '#resources/words/distinct.ts';
import { byName } from '#resources/words/order.ts';
import { closeReplacing } from './added-headers.ts';
import { mappingClusters, type NamedCluster } from './clusters/cluster-names.ts';
import { collectorClusters } from './clusters/collector-clusters.ts';
import { declaredClusterProblems } from './clusters/declared-cluster-problems.ts';
import { hopOf } from './clusters/hop.ts';
import { hopProblems } from './clusters/hop-problems.ts';
import { proxyConfigClusters } from './clusters/proxy-config-clusters.ts';
import { withStatNames } from './clusters/stat-names.ts';
import type { Compiled, CompiledResource } from './compiled.ts';
import { type Edge, edgeOf, type OfGateways } from './edge.ts';
import { extAuthzMessages } from './ext-authz/ext-authz-messages.ts';
import { unservedFilterProblems } from './ext-authz/unserved-filters.ts';
import { appliedLimits } from './gateways/applied-limits.ts';
import { gatewayApiOf } from './gateways/gateway-api-of.ts';
import { gatewayParts } from './gateways/gateway-parts.ts';
import { gatewaySecrets } from './gateways/gateway-secrets.ts';
import { routePolicies, routeReferences } from './gateways/route-policies.ts';
import { applicationPorts, listenerProblems } from './listeners/application-ports.ts';
import { type ServedPort, toListeners } from './listeners/listener.ts';
import { keyedMappings } from './mapping-keys.ts';
import { Memo } from './memo.ts';
import { withModuleDefaults } from './module-defaults.ts';
import { EDGE, EXT_AUTHZ, ofNodeGroup, RATELIMIT_SERVICE, SDS } from './node-groups.ts';
import { type CompileOptions, DEFAULT_CA_FILE } from './options.ts';
import { unservedLabelProblems } from './rate-limits/label-domain-problems.ts';
import { hostRateLimits } from './rate-limits/labelling.ts';
import { rateLimitMessages } from './rate-limits/rate-limit-messages.ts';
import { rateLimitProblems } from './rate-limits/rate-limit-problems.ts';
import { closedWholly } from './routes/closed-route.ts';
import { MARK_LATE_TRIES } from './routes/late-tries.ts';
import { loopProblems, redirectLoopProblems } from './routes/loops.ts';
import { manyRoutesProblems } from './routes/many-routes.ts';
import { mappingGroups } from './routes/mapping-groups.ts';
import { mappingGroupProblems } from './routes/mapping-route.ts';
import { askingClusters, mappingShares } from './routes/mapping-shares.ts';
import { proxyConfigHosts } from './routes/proxy-config-hosts.ts';
import { HOST_RETRIES } from './routes/retry-policy.ts';
import { toRouteConfiguration } from './routes/route-configuration.ts';
import { mappingEntries } from './routes/route-entries.ts';
import { sentUpgrades } from './routes/sent-upgrades.ts';
import { apart, shadowProblems } from './routes/shadows.ts';
import { type HostInputs, hostParts, virtualHosts } from './routes/virtual-hosts.ts';
import { contextProblems } from './tls/context-problems.ts';
import { EVERY_MAPPING } from './tls/host-choice.ts';
import { mappingsTls } from './tls/mappings-tls.ts';
import { servedSecrets } from './tls/served-secrets.ts';
import { type WithoutUnserved, withoutUnserved } from './unserved.ts';

/**
 * Compiles the configuration of a node group's Envoys, or of one of our services: proto3 JSON,
 * snake_case, as on Envoy's pages. It is pure and deterministic: equal resources in any order give
 * equal JSON. It never throws for what an operator can write.
 */
export function compile(resources: ResourceSet, group: string, options: CompileOptions): Compiled {
  const restricted = withoutUnserved(resources);
  const rest = options.shared && restOf(resources, options.shared);
  const compiled = compileServed(restricted, rest, group, options);
  const problems = restricted.problems(group);
  return problems.length === 0
    ? compiled
    : { ...compiled, problems: [...problems, ...compiled.problems] };
}

/** `rest` stands for all resources but routes, where results are kept. */
function compileServed(
  restricted: WithoutUnserved,
  rest: object | undefined,
  group: string,
  options: CompileOptions,
): Compiled {
  const { memo = new Memo() } = options;
  const { resources } = restricted;
  switch (group) {
    case EXT_AUTHZ:
      return extAuthzMessages(
        resources,
        routePolicies(gatewayApiOf(resources, options).gateways, memo),
        memo,
      );
    case RATELIMIT_SERVICE:
      return rateLimitMessages(resources, limitsInUse(resources, options, memo), memo);
    case SDS:
      return servedSecrets(
        resources,
        gatewaySecrets(gatewayApiOf(resources, options).gateways, resources),
        memo,
      );
    default: {
      const { gateways } = gatewayApiOf(resources, options);
      const own = gateways.filter(gateway => gateway.group === group);
      const limits = limitsInUse(resources, options, memo);
      const [first] = own;
      if (first === undefined || group === EDGE)
        return compileProxies(restricted, group, { gateways: own, limits }, options, memo);
      const make = () =>
        compileGateway(restricted, group, { gateways: own, limits }, options, memo);
      const inputs = [...Object.values(options), ...own, ...limits.map(({ id }) => id)];
      return rest === undefined ? make() : memo.of(rest, 'compiled Gateway', inputs, make);
    }
  }
}

/** What a node group has of Gateway API. */
type InUse = {
  readonly gateways: readonly ServedGateway[];
  /** The RateLimits that requests may meet anywhere. */
  readonly limits: ResourceSet['rateLimits'];
};

function limitsInUse(resources: ResourceSet, options: CompileOptions, memo: Memo): InUse['limits'] {
  const { gateways } = gatewayApiOf(resources, options);
  return appliedLimits(resources.rateLimits, gateways, options.shared ?? memo);
}

/** Returns the configuration of the proxies of one Gateway, which has nothing but its listeners. */
function compileGateway(
  { everything, resources }: WithoutUnserved,
  group: string,
  { gateways, limits }: InUse,
  options: CompileOptions,
  memo: Memo,
): Compiled {
  const own = { ...ofNodeGroup(resources, EDGE), ...WITHOUT_ROUTES };
  const edge = edgeOf(own, options, memo, ofGateways(gateways, limits));
  const hosts = {
    entries: new Map(),
    declared: [],
    guards: undefined,
    ...hostInputs(own, edge, everything, memo),
  };
  const parts = gatewayParts(group, gateways, {
    ...{ edge, memo, options, resources },
    hosts: (domain, taken) => hostParts(domain, hosts, taken),
  });
  const clusters = [
    ...parts.clusters,
    ...edgeClusters(edge),
    ...collectorClusters(resources, options),
  ];
  return {
    resources: new Map([
      [CLUSTER, byNameOnce(clusters)],
      [ROUTE_CONFIGURATION, byName(parts.routes)],
      [LISTENER, byName(toListeners(parts.ports))],
    ]),
    problems: [],
    ...tokensOf(edge),
  };
}

/** Mappings, ProxyConfigs and Hosts are served by the proxies of their own node groups. */
const WITHOUT_ROUTES = {
  mappings: [],
  proxyConfigs: [],
  hosts: [],
  listeners: [],
  tlsContexts: [],
} as const;

function compileProxies(
  { everything, resources }: WithoutUnserved,
  group: string,
  { gateways, limits }: InUse,
  options: CompileOptions,
  memo: Memo,
): Compiled {
  const all = withModuleDefaults(ofNodeGroup(resources, group), memo);
  const tls = mappingsTls(all, resources, memo);
  const { served: forwarding, shadows } = apart(tls.resources);
  const edge =
    group === EDGE ? edgeOf(forwarding, options, memo, ofGateways(gateways, limits)) : undefined;
  const own = edge === undefined ? forwarding : closeReplacing(forwarding, edge.settersOf);
  const mappings = {
    mappings: keyedMappings(own.mappings, memo),
    shadows: keyedMappings(shadows, memo),
    closed: own.closed,
  };
  const shares = mappingShares(mappings, edge?.choices.values() ?? [EVERY_MAPPING]);
  const declared = proxyConfigClusters(own.proxyConfigs, options);
  const { caFile = DEFAULT_CA_FILE } = options;
  const upstreamTls = { caFile, hop: hopOf(options), contexts: tls.contexts };
  const users = askingClusters(mappings, shares);
  const byMapping = mappingClusters(users, declared.byName, upstreamTls, memo);
  const sent = sentUpgrades(resources, group);
  const hosts = proxyConfigHosts(own.proxyConfigs, declared.byName, sent.upgrades, own.closed);
  const served = shares.map(share => {
    const { choice, closed, forwarded, overruled, redirects } = share;
    const groups = mappingGroups(forwarded, byMapping);
    const mirrors = mappingGroups(share.shadows, byMapping);
    const entries = mappingEntries(
      { groups, mirrors, redirects },
      closed,
      memo,
      edge && { ...edge, ...edge.limits, ...edge.filters },
    );
    const problems = [
      ...overruled,
      ...[...groups.values()].flatMap(mappingGroupProblems),
      ...shadowProblems(mirrors, groups),
    ];
    return { key: choice.key, entries, problems };
  });
  const inputs = {
    entries: new Map(served.map(({ key, entries }) => [key, entries])),
    ...{ declared: hosts.hosts, guards: undefined },
    ...hostInputs(own, edge, everything, memo),
  };
  const parts =
    edge &&
    gatewayParts(group, gateways, {
      ...{ edge, memo, options, resources },
      hosts: (domain, taken) => hostParts(domain, inputs, taken),
    });
  const clusters = allClusters(byMapping, declared.byName.values(), memo, [
    ...(parts?.clusters ?? []),
    ...edgeClusters(edge),
    ...collectorClusters(resources, options),
  ]);
  const routeOrigins = [...(edge?.routeOrigins ?? sent.origins), ...shadows.map(({ id }) => id)];
  const tables = routeConfigurations(group, own, inputs, edge, routeOrigins);
  const ownPorts = edge?.ports ?? applicationPorts(resources, group, options);
  const addresses = ownPorts.map(({ address }) => address);
  return {
    resources: new Map([
      [CLUSTER, clusters],
      [ROUTE_CONFIGURATION, byName([...tables, ...(parts?.routes ?? [])])],
      [LISTENER, byName(toListeners(servedPorts(ownPorts, parts?.ports ?? [], own)))],
    ]),
    problems: [
      ...(edge === undefined ? [] : gatewayApiOf(resources, options).problems),
      ...listenerProblems(all, group),
      ...tls.problems,
      ...hopProblems(all.mappings, hopOf(options)),
      ...loopProblems(own.mappings, addresses),
      ...redirectLoopProblems(own.mappings, addresses),
      ...declared.problems,
      ...declaredClusterProblems(users, declared.byName, own.config),
      ...hosts.problems,
      ...(edge === undefined
        ? []
        : [...edge.problems, ...contextProblems(resources, edge.contexts)]),
      ...distinct(served.flatMap(({ problems }) => problems)),
      ...manyRoutesProblems(group, tables, own),
      ...(edge === undefined
        ? [
            ...unservedLabelProblems(own.mappings),
            ...unservedFilterProblems(own.mappings, resources),
          ]
        : rateLimitProblems(own, edge.limits, () => namesOf(declared.byName, byMapping), memo)),
    ],
    ...tokensOf(edge),
  };
}

function tokensOf(edge: Edge | undefined): Pick<Compiled, 'tokens'> {
  const { providers = [] } = edge?.filters.tokens ?? {};
  return providers.length === 0 ? {} : { tokens: providers };
}

/** Returns the parts of virtual hosts beside the routes of Mappings and ProxyConfigs. */
function hostInputs(
  own: ResourceSet,
  edge: Edge | undefined,
  everything: WithoutUnserved['everything'],
  memo: Memo,
): Omit<HostInputs, 'entries' | 'declared' | 'guards'> {
  return {
    everywhere: edge === undefined || everything === undefined ? [] : [closedWholly(everything.id)],
    closedPolicies: own.closed.filter(({ kind }) => kind === 'FilterPolicy'),
    escapedSlashes: own.config.escaped_slashes,
    filters: edge?.filters,
    memo,
    common: {
      ...HOST_RETRIES,
      ...(edge === undefined
        ? {}
        : { ...MARK_LATE_TRIES, ...hostRateLimits(edge.limits.labellings) }),
    },
  };
}

function namesOf(...clusters: readonly ReadonlyMap<unknown, NamedCluster>[]): readonly string[] {
  return [...new Set(clusters.flatMap(each => [...each.values()].map(({ name }) => name)))];
}

function edgeClusters(edge: Edge | undefined): readonly NamedCluster[] {
  return edge === undefined ? [] : [edge.limits.cluster, edge.filters.cluster];
}

/** `others` are ids of their sources besides Mappings and ProxyConfigs of the group. */
function routeConfigurations(
  group: string,
  own: ResourceSet,
  inputs: HostInputs,
  edge: Edge | undefined,
  others: readonly string[],
): readonly CompiledResource[] {
  const { mappings, proxyConfigs, closed } = own;
  const ids = [...mappings, ...proxyConfigs, ...closed].map(({ id }) => id);
  const tables = edge?.tables ?? [{ table: group, config: own.config, guards: undefined }];
  return tables.map(({ config, guards, table }) => ({
    name: table,
    json: toRouteConfiguration(
      table,
      edge !== undefined,
      virtualHosts({ ...inputs, guards, everywhere: everywhere(inputs, own) }),
      config,
    ),
    origins: [...ids, ...others],
  }));
}

/** While no Listener can be read, it is unknown which Hosts may be reached at which port. */
function everywhere(inputs: HostInputs, { closed, listeners }: ResourceSet): readonly JsonObject[] {
  const unread = listeners.length > 0 ? undefined : closed.find(({ kind }) => kind === 'Listener');
  return unread === undefined ? inputs.everywhere : [closedWholly(unread.id)];
}

function ofGateways(gateways: readonly ServedGateway[], limits: InUse['limits']): OfGateways {
  const listeners = gateways.flatMap(gateway => gateway.listeners);
  const ofStreams = listeners.filter(({ protocol }) => protocol !== 'UDP');
  const calling = listeners.flatMap(({ routes }) =>
    routes.filter(({ kind }) => kind === 'GRPCRoute'),
  );
  return {
    ports: new Map(ofStreams.map(({ origin, port }) => [port, origin])),
    filters: routeReferences(gateways),
    grpcRoutes: calling.map(({ route }) => route.id),
    limits,
  };
}

/**
 * Returns the ports of the edge with those of Gateways that share it. Where both want an address,
 * the Gateway has it, unless nobody wrote a Listener and there is something else for the edge to
 * serve there.
 */
function servedPorts(
  own: readonly ServedPort[],
  ofGateways: readonly ServedPort[],
  { hosts, listeners, mappings, proxyConfigs }: ResourceSet,
): readonly ServedPort[] {
  const keepsOwn =
    listeners.length === 0 && hosts.length + mappings.length + proxyConfigs.length > 0;
  return keepsOwn ? [...own, ...ofGateways] : [...ofGateways, ...own];
}

/** Returns the very same list while no cluster changes, so nothing compares its bytes again. */
function allClusters(
  byMapping: ReadonlyMap<string, NamedCluster>,
  declared: Iterable<NamedCluster>,
  memo: Memo,
  others: readonly NamedCluster[],
): readonly NamedCluster[] {
  const ofMappings = memo.of(byMapping, 'distinct', [], () => byNameOnce(byMapping.values()));
  const first = [...declared];
  const inputs = [...first, ...others].flatMap(({ json, name, origins }): readonly unknown[] => [
    name,
    json,
    origins.join(),
  ]);
  return memo.of(ofMappings, 'clusters', inputs, () =>
    byNameOnce([...first, ...ofMappings, ...others]),
  );
}

/** Returns each cluster once, with the ids of all its users, and its name in statistics. */
function byNameOnce(clusters: Iterable<NamedCluster>): readonly NamedCluster[] {
  const once = new Map([...clusters].map(cluster => [cluster.name, cluster]));
  return withStatNames(byName(once.values()));
}
