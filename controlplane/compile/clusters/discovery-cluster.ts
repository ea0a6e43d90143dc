import { formatHostPort } from '#grpc/host-port.ts';
import type { JsonObject } from '#protos/json.ts';
import type { DiscoveryCluster } from '#resources/kinds/proxy-config/cluster.ts';
import type { ProxyConfigSpec } from '#resources/kinds/proxy-config/proxy-config-spec.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import type { HostPort } from '#resources/words/host.ts';
import { compareText } from '#resources/words/order.ts';
import { toCluster } from './cluster.ts';
import { BUILT_IN, type Discovery } from './eds-config.ts';
import { dnsMembers, staticMembers } from './members.ts';
import { BOOTSTRAP_CLUSTERS } from './reserved-clusters.ts';

type Sds = NonNullable<ProxyConfigSpec['cluster_manager']['sds']>;

/**
 * Returns where a ProxyConfig's `cluster_manager` looks for instances. It is the built-in service
 * when its address is the built-in one, else a cluster of its own. That cluster's name holds its
 * address. So another address is another name, which a running proxy's bootstrap does not have.
 */
export function discoveryOf(sds: Sds | undefined, builtIn: HostPort): Discovery {
  if (sds === undefined) return BUILT_IN;
  const { cluster, refresh_delay_ms } = sds;
  const isBuiltIn = addressesOf(cluster) === addressesOf({ hosts: [builtIn] });
  const rest = refresh_delay_ms !== undefined;
  const name = isBuiltIn ? 'sds' : `${cluster.name}@${addressesOf(cluster)}`;
  return {
    cluster: rest ? `${name}-rest` : name,
    ...(rest ? { refreshDelayMs: refresh_delay_ms } : {}),
  };
}

/**
 * Returns the clusters, for the bootstrap, of discovery services that the ProxyConfigs of a node
 * group name, without the built-in one. Envoy accepts only clusters of the bootstrap for discovery
 * ("must have a statically defined non-EDS cluster").
 */
export function discoveryClusters(
  resources: ResourceSet,
  group: string,
  builtIn: HostPort,
): readonly JsonObject[] {
  const clusters = new Map<string, JsonObject>();
  for (const { spec } of resources.proxyConfigs) {
    const { sds } = spec.cluster_manager;
    if (spec.node_group !== group || sds === undefined) continue;
    const discovery = discoveryOf(sds, builtIn);
    if (BOOTSTRAP_CLUSTERS.has(discovery.cluster)) continue;
    clusters.set(discovery.cluster, staticCluster(discovery, sds.cluster));
  }
  return [...clusters].sort(([a], [b]) => compareText(a, b)).map(([, json]) => json);
}

/** A cluster in a bootstrap has no `@type`. */
function staticCluster(
  { cluster: name, refreshDelayMs }: Discovery,
  cluster: DiscoveryCluster,
): JsonObject {
  const members = cluster.type === 'static' ? staticMembers : dnsMembers;
  const { '@type': _, ...json } = toCluster(name, {
    connectTimeoutMs: cluster.connect_timeout_ms,
    members: members(name, cluster.hosts),
    protocol: refreshDelayMs === undefined ? 'http2' : 'http1',
  });
  return json;
}

function addressesOf({ hosts }: { readonly hosts: readonly HostPort[] }): string {
  return hosts
    .map(({ host, port }) =>
      formatHostPort({ host: host === 'localhost' ? '127.0.0.1' : host, port }),
    )
    .sort()
    .join(',');
}
