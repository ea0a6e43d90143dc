import type { JsonObject } from '#protos/json.ts';
import { CLUSTER, LISTENER, ROUTE_CONFIGURATION } from '#protos/type-url.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { mappingClusters, type NamedCluster } from './cluster-names.ts';
import { compileRateLimits } from './compile-rate-limits.ts';
import type { Compiled, CompiledResource } from './compiled.ts';
import { edgeHosts } from './edge-hosts.ts';
import { edgeRateLimits } from './edge-rate-limits.ts';
import { edgeTlsListener } from './edge-tls-listener.ts';
import { edgeFilters } from './ext-authz-edge.ts';
import { extAuthzMessages } from './ext-authz-messages.ts';
import { callersOf, type Hop, hopOf } from './hop.ts';
import { hopServerTls } from './hop-tls.ts';
import { hostGuards } from './host-guard.ts';
import { unservedLabelProblems } from './label-domain-problems.ts';
import { hostRateLimits } from './labelling.ts';
import { listenerProblems, listeners } from './listeners.ts';
import { mappingGroups } from './mapping-groups.ts';
import { keyedMappings } from './mapping-keys.ts';
import { mappingGroupProblems } from './mapping-route.ts';
import { Memo } from './memo.ts';
import { moduleConfig } from './module-config.ts';
import { EDGE, EXT_AUTHZ, ofNodeGroup, RATELIMIT_SERVICE, SDS } from './node-groups.ts';
import { type CompileOptions, DEFAULT_CA_FILE, DEFAULT_EDGE_TLS } from './options.ts';
import { compareText } from './order.ts';
import { proxyConfigClusters } from './proxy-config-clusters.ts';
import { proxyConfigHosts } from './proxy-config-hosts.ts';
import { rateLimitProblems } from './rate-limit-problems.ts';
import { toRouteConfiguration } from './route-configuration.ts';
import { mappingEntries } from './route-entries.ts';
import { servedSecrets } from './served-secrets.ts';
import { tlsAddressProblems, withoutClash } from './tls-address-problems.ts';
import { virtualHosts } from './virtual-hosts.ts';

/**
 * The configuration of a node group's Envoys, as on Envoy's pages, or of one of our services: proto3 JSON, snake_case. Pure and
 * deterministic: equal resources give equal JSON, in whatever order they were written. Never throws for what an operator can write.
 */
export function compile(resources: ResourceSet, group: string, options: CompileOptions): Compiled {
  const { memo = new Memo(), caFile = DEFAULT_CA_FILE, edgeTls = DEFAULT_EDGE_TLS } = options;
  if (group === EXT_AUTHZ) return extAuthzMessages(resources, memo);
  if (group === RATELIMIT_SERVICE) return compileRateLimits(resources, memo);
  if (group === SDS) return servedSecrets(resources, memo);
  const own = ofNodeGroup(resources, group);
  const hop = hopOf(options);
  const edge = group === EDGE ? edgeRateLimits(own, options, memo) : undefined;
  const filters = group === EDGE ? edgeFilters(own, options, memo) : undefined;
  const tls = edgeHosts(own);
  const tlsListener = edge === undefined ? undefined : edgeTlsListener(tls.hosts, edgeTls, edge.listener);
  const edgeRoutes = edge === undefined || filters === undefined ? undefined : { ...edge, ...filters };
  const mappings = keyedMappings(own.mappings, memo);
  const declared = proxyConfigClusters(own.proxyConfigs, options);
  const byMapping = mappingClusters(mappings, declared.byName, { caFile, hop }, memo);
  const groups = mappingGroups(mappings, byMapping);
  const hosts = proxyConfigHosts(own.proxyConfigs, declared.byName);
  const routes = virtualHosts({
    entries: mappingEntries(groups, own.closed, memo, edgeRoutes),
    declared: hosts.hosts,
    closedPolicies: own.closed.filter(({ kind }) => kind === 'FilterPolicy'),
    filters,
    guards: tls.hosts.length === 0 ? undefined : hostGuards(tls.hosts, options.httpsPort ?? edgeTls.port),
    escapedSlashes: moduleConfig(own).escaped_slashes,
    common: edge === undefined ? {} : hostRateLimits(edge.labelling),
  });
  return {
    resources: new Map([
      [
        CLUSTER,
        distinct([
          ...declared.byName.values(),
          ...byMapping.values(),
          ...(edge ? [edge.cluster] : []),
          ...(filters ? [filters.cluster] : []),
        ]),
      ],
      [
        ROUTE_CONFIGURATION,
        [
          routeConfiguration(group, own, routes, [
            ...(edge?.origins ?? []),
            ...(filters?.origins ?? []),
            ...tls.hosts.flatMap(({ origins }) => origins),
          ]),
        ],
      ],
      [
        LISTENER,
        byName(
          withoutClash(
            listeners(own, group, options, edge?.listener, hop, hopSocket(resources, group, hop)),
            tlsListener,
          ),
        ),
      ],
    ]),
    problems: [
      ...listenerProblems(own, group),
      ...declared.problems,
      ...hosts.problems,
      ...tls.problems,
      ...tlsAddressProblems(own, tlsListener),
      ...(filters?.problems ?? []),
      ...[...groups.values()].flatMap(mappingGroupProblems),
      ...(edge === undefined ? unservedLabelProblems(own.mappings) : rateLimitProblems(own, edge, memo)),
    ],
  };
}

/** What the proxies behind the edge demand of whoever connects. */
function hopSocket(resources: ResourceSet, group: string, hop: Hop): JsonObject {
  return hopServerTls(hop.trustDomain, { groups: callersOf(resources, group, hop) });
}

function routeConfiguration(
  group: string,
  { mappings, proxyConfigs, closed }: ResourceSet,
  routes: ReturnType<typeof virtualHosts>,
  labelOrigins: readonly string[] = [],
): CompiledResource {
  const origins = [...[...mappings, ...proxyConfigs, ...closed].map(({ id }) => id), ...labelOrigins];
  return { name: group, json: toRouteConfiguration(group, routes), origins };
}

/** Each cluster once, with the ids of all that use it. */
function distinct(clusters: readonly NamedCluster[]): readonly CompiledResource[] {
  return byName([...new Map(clusters.map(cluster => [cluster.name, cluster])).values()]);
}

function byName(resources: readonly CompiledResource[]): readonly CompiledResource[] {
  return [...resources].sort((a, b) => compareText(a.name, b.name));
}
