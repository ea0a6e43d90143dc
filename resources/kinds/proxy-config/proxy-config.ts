import { caution, type FieldPath, type Finding, fault } from '#resources/finding.ts';
import type { KindDefinition } from '#resources/schema/kind.ts';
import { whyUnreachable } from '#resources/traffic/unreachable-prefix.ts';
import { ipVersion } from '#resources/words/ip-address.ts';
import { suggest } from '#resources/words/suggest.ts';
import { checkHealth } from '../mapping/health-checks.ts';
import type { DiscoveryCluster, ProxyCluster } from './cluster.ts';
import { clusterIn } from './cluster.ts';
import { type ProxyConfigSpec, proxyConfigSpec } from './proxy-config-spec.ts';

/** Listener, routes and clusters of one node group. */
export const proxyConfig: KindDefinition<typeof proxyConfigSpec> = {
  summary: 'Listener, virtual hosts and clusters of the proxies of one node group.',
  schema: proxyConfigSpec,
  fieldsAt: 'spec',
  unknownField: 'warning',
  check: checkProxyConfig,
  inNamespace: (spec, namespace) => ({
    ...spec,
    clusters: spec.clusters.map(each => clusterIn(each, namespace)),
  }),
};

type VirtualHosts = ProxyConfigSpec['virtual_hosts'];

const SDS_CLUSTER: FieldPath = ['cluster_manager', 'sds', 'cluster'];

/**
 * Checks the rules between a ProxyConfig's fields: references, unique names, and which cluster has
 * members of its own.
 */
export function checkProxyConfig(spec: Partial<ProxyConfigSpec>): readonly Finding[] {
  const { clusters = [], virtual_hosts = [], cluster_manager } = spec;
  const sds = cluster_manager?.sds?.cluster;
  return [
    ...clusters.flatMap((cluster, index) => checkCluster(cluster, ['clusters', index])),
    ...checkClusterNames(clusters, sds),
    ...checkVirtualHostNames(virtual_hosts),
    ...checkDomains(virtual_hosts),
    ...checkReach(virtual_hosts),
    ...(spec.clusters === undefined ? [] : checkRoutes(virtual_hosts, spec.clusters)),
    ...(sds === undefined ? [] : checkMembers(sds, SDS_CLUSTER)),
    ...checkListener(spec),
    ...checkReplicas(spec),
  ];
}

/**
 * A client of the edge is no proxy of the gateway, and so has no certificate of the gateway's
 * authority.
 */
function checkListener({ node_group, listener }: Partial<ProxyConfigSpec>): readonly Finding[] {
  if (node_group !== 'edge' || listener?.hop_tls !== true) return [];
  return [
    caution(
      ['listener', 'hop_tls'],
      '`hop_tls` has no effect at the edge: it demands the certificates of proxies. Those of clients are demanded by `cert_required` of a Host',
    ),
  ];
}

function checkReplicas({ deployment }: Partial<ProxyConfigSpec>): readonly Finding[] {
  if (deployment === undefined || deployment.min_replicas <= deployment.max_replicas) return [];
  const { min_replicas, max_replicas } = deployment;
  return [
    fault(
      ['deployment', 'max_replicas'],
      `\`max_replicas\` is ${max_replicas}: want ${min_replicas}, which is \`min_replicas\`, or more`,
    ),
  ];
}

function checkCluster(cluster: ProxyCluster, path: FieldPath): readonly Finding[] {
  const speaksHttp2 = cluster.features === 'http2';
  return [
    ...checkHealth(cluster.health_checks, speaksHttp2, [...path, 'health_checks'], HTTP2),
    ...checkFields(cluster, path),
  ];
}

const HTTP2 = '`features: http2`';

function checkFields(cluster: ProxyCluster, path: FieldPath): readonly Finding[] {
  if (cluster.type === 'sds') {
    if (cluster.hosts.length === 0) return [];
    return [
      fault(
        [...path, 'hosts'],
        `cluster "${cluster.name}" has type sds: its members come from the discovery service, leave out \`hosts\``,
      ),
    ];
  }
  const named = cluster.service_name === undefined;
  const misplaced = fault(
    [...path, 'service_name'],
    '`service_name` belongs to clusters of type sds only',
  );
  return named ? checkMembers(cluster, path) : [misplaced, ...checkMembers(cluster, path)];
}

function checkMembers(
  cluster: ProxyCluster | DiscoveryCluster,
  path: FieldPath,
): readonly Finding[] {
  const { hosts, name, type } = cluster;
  if (hosts.length === 0)
    return [fault(path, `cluster "${name}" has type ${type} and no \`hosts\``)];
  if (type !== 'static') return [];
  return hosts.flatMap(({ host }, index) =>
    ipVersion(host) === 0
      ? [
          fault(
            [...path, 'hosts', index, 'url'],
            `cluster "${name}" has type static: "${host}" must be an IP address. Use type strict_dns for names`,
          ),
        ]
      : [],
  );
}

function checkClusterNames(
  clusters: readonly ProxyCluster[],
  sds: DiscoveryCluster | undefined,
): readonly Finding[] {
  const named = clusters.map(({ name }, index) => ({ name, path: ['clusters', index, 'name'] }));
  const all =
    sds === undefined ? named : [...named, { name: sds.name, path: [...SDS_CLUSTER, 'name'] }];
  return checkUnique(all, name => `there is another cluster named "${name}"`);
}

function checkVirtualHostNames(virtualHosts: VirtualHosts): readonly Finding[] {
  const named = virtualHosts.map(({ name }, index) => ({
    name,
    path: ['virtual_hosts', index, 'name'],
  }));
  return checkUnique(named, name => `there is another virtual host named "${name}"`);
}

function checkDomains(virtualHosts: VirtualHosts): readonly Finding[] {
  const domains = virtualHosts.flatMap(({ domains }, host) =>
    domains.map((name, index) => ({ name, path: ['virtual_hosts', host, 'domains', index] })),
  );
  return checkUnique(
    domains,
    name => `the domain "${name}" is listed twice. A request could not tell where to go`,
  );
}

function checkReach(virtualHosts: VirtualHosts): readonly Finding[] {
  return virtualHosts.flatMap(({ routes }, host) =>
    routes.flatMap(({ prefix }, index) => {
      const why = whyUnreachable(prefix);
      return why === undefined
        ? []
        : [caution(['virtual_hosts', host, 'routes', index, 'prefix'], why)];
    }),
  );
}

function checkUnique(
  items: readonly { readonly name: string; readonly path: FieldPath }[],
  message: (name: string) => string,
): readonly Finding[] {
  const seen = new Set<string>();
  return items.flatMap(({ name, path }) => {
    if (seen.has(name)) return [fault(path, message(name))];
    seen.add(name);
    return [];
  });
}

function checkRoutes(
  virtualHosts: VirtualHosts,
  clusters: readonly ProxyCluster[],
): readonly Finding[] {
  const names = clusters.map(({ name }) => name);
  return virtualHosts.flatMap(({ routes }, host) =>
    routes.flatMap(({ cluster }, index) =>
      names.includes(cluster)
        ? []
        : [
            fault(
              ['virtual_hosts', host, 'routes', index, 'cluster'],
              `there is no cluster "${cluster}" in \`clusters\`${suggest(cluster, names)}`,
            ),
          ],
    ),
  );
}
