import type { JsonObject } from '#protos/json.ts';
import type { ProxyCluster } from '#resources/kinds/proxy-config/cluster.ts';
import type { Problem } from '#resources/problem.ts';
import type { Resource } from '#resources/resource.ts';
import type { CompileOptions } from '../options.ts';
import { problemOf } from '../problem-of.ts';
import { type ClusterParts, toCluster } from './cluster.ts';
import type { NamedCluster } from './cluster-names.ts';
import { discoveryOf } from './discovery-cluster.ts';
import { type Discovery, edsConfig } from './eds-config.ts';
import { type Hop, hopClusterService, hopOf } from './hop.ts';
import { hopClientTls } from './hop-tls.ts';
import { discoveredMembers, dnsMembers, staticMembers } from './members.ts';
import { BOOTSTRAP_CLUSTERS, RESERVED_CLUSTERS } from './reserved-clusters.ts';

/** The clusters that ProxyConfigs declare, by the operator's names for them. */
export type ProxyConfigClusters = {
  readonly byName: ReadonlyMap<string, NamedCluster>;
  readonly problems: readonly Problem[];
};

/**
 * Returns the clusters of the ProxyConfigs of one node group. Of two different ones with one name,
 * the first ProxyConfig's counts.
 */
export function proxyConfigClusters(
  proxyConfigs: readonly Resource<'ProxyConfig'>[],
  options: CompileOptions,
): ProxyConfigClusters {
  const byName = new Map<string, NamedCluster>();
  const problems: Problem[] = [];
  for (const proxyConfig of proxyConfigs) {
    const discovery = discoveryOf(proxyConfig.spec.cluster_manager.sds, options.sds);
    const reachable = isReachable(discovery, options);
    if (!reachable) problems.push(unreachable(proxyConfig));
    for (const cluster of proxyConfig.spec.clusters) {
      const json = compileCluster(cluster, reachable ? discovery : undefined, hopOf(options));
      const known = byName.get(cluster.name);
      if (known === undefined) {
        byName.set(cluster.name, { name: envoyName(cluster), json, origins: [proxyConfig.id] });
      } else if (JSON.stringify(known.json) === JSON.stringify(json)) {
        byName.set(cluster.name, { ...known, origins: [...known.origins, proxyConfig.id] });
      } else problems.push(conflict(proxyConfig, cluster, known));
    }
  }
  return { byName, problems };
}

/**
 * A cluster of type `sds` without a way to the discovery service has no members, and answers 503.
 */
function compileCluster(
  cluster: ProxyCluster,
  discovery: Discovery | undefined,
  hop: Hop,
): JsonObject {
  const service = hopClusterService(cluster, hop);
  const parts: Omit<ClusterParts, 'members'> = {
    connectTimeoutMs: cluster.connect_timeout_ms,
    service: cluster.service_name ?? cluster.name,
    traffic: cluster,
    protocol: service !== undefined ? 'hop' : cluster.features === 'http2' ? 'http2' : 'http1',
    ...(service === undefined
      ? {}
      : { transportSocket: hopClientTls(hop.trustDomain, { service }) }),
  };
  return toCluster(envoyName(cluster), { ...parts, members: members(cluster, discovery) });
}

function members(cluster: ProxyCluster, discovery: Discovery | undefined): JsonObject {
  const name = envoyName(cluster);
  if (cluster.type === 'strict_dns') return dnsMembers(name, cluster.hosts);
  if (cluster.type === 'static') return staticMembers(name, cluster.hosts);
  if (discovery === undefined) return staticMembers(name, []);
  return discoveredMembers(cluster.service_name ?? cluster.name, edsConfig(discovery));
}

/**
 * Returns the name of a declared cluster in Envoy. No name that the compiler makes ends with `~`,
 * and no two declared names have one in Envoy.
 */
export function envoyName({ name }: Pick<ProxyCluster, 'name'>): string {
  return RESERVED_CLUSTERS.has(name) || MADE.test(name) ? `${name}~` : name;
}

/**
 * Clusters of Gateways begin so. Those of Mappings that share the name of a service have a `~`, and
 * those of discovery services have an `@`.
 */
const MADE = /^Service\/|[~@]/;

function isReachable({ cluster }: Discovery, { discoveryClusters }: CompileOptions): boolean {
  return (
    BOOTSTRAP_CLUSTERS.has(cluster) ||
    discoveryClusters === undefined ||
    discoveryClusters.has(cluster)
  );
}

function unreachable(proxyConfig: Resource<'ProxyConfig'>): Problem {
  const group = proxyConfig.spec.node_group;
  return problemOf(
    proxyConfig,
    'error',
    'spec.cluster_manager.sds.cluster',
    `the running proxies of node group ${group} do not know this discovery service: it is in their bootstrap. ` +
      `Restart them with a new one (gateway bootstrap ${group}). Until then their clusters of type sds have no members`,
  );
}

function conflict(
  proxyConfig: Resource<'ProxyConfig'>,
  { name }: ProxyCluster,
  known: NamedCluster,
): Problem {
  return problemOf(
    proxyConfig,
    'error',
    'spec.clusters',
    `the cluster "${name}" is already declared otherwise in ${known.origins[0]}, for the same node group. That one counts`,
  );
}
