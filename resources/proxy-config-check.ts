import type { DiscoveryCluster, ProxyCluster } from './cluster.ts';
import { type FieldPath, type Finding, fault } from './finding.ts';
import { ipVersion } from './ip-address.ts';
import type { ProxyConfigSpec } from './proxy-config.ts';
import { suggest } from './suggest.ts';

/** The rules between a ProxyConfig's fields: references, unique names, and which cluster has members of its own. */
export function checkProxyConfig(spec: ProxyConfigSpec): readonly Finding[] {
  const sds = spec.cluster_manager.sds?.cluster;
  const sdsPath = ['cluster_manager', 'sds', 'cluster'];
  return [
    ...spec.clusters.flatMap((cluster, index) => checkCluster(cluster, ['clusters', index])),
    ...checkClusterNames(spec),
    ...checkVirtualHostNames(spec),
    ...checkDomains(spec),
    ...checkRoutes(spec),
    ...(sds === undefined ? [] : checkMembers(sds, sdsPath)),
  ];
}

function checkCluster(cluster: ProxyCluster, path: FieldPath): readonly Finding[] {
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
  const misplaced = fault([...path, 'service_name'], '`service_name` belongs to clusters of type sds only');
  return named ? checkMembers(cluster, path) : [misplaced, ...checkMembers(cluster, path)];
}

function checkMembers(cluster: ProxyCluster | DiscoveryCluster, path: FieldPath): readonly Finding[] {
  const { hosts, name, type } = cluster;
  if (hosts.length === 0) return [fault(path, `cluster "${name}" has type ${type} and no \`hosts\``)];
  if (type !== 'static') return [];
  return hosts.flatMap(({ host }, index) =>
    ipVersion(host) === 0
      ? [
          fault(
            [...path, 'hosts', index, 'url'],
            `cluster "${name}" has type static: "${host}" must be an IP address; use type strict_dns for names`,
          ),
        ]
      : [],
  );
}

function checkClusterNames(spec: ProxyConfigSpec): readonly Finding[] {
  const named = spec.clusters.map(({ name }, index) => ({ name, path: ['clusters', index, 'name'] }));
  const sds = spec.cluster_manager.sds?.cluster.name;
  const all =
    sds === undefined
      ? named
      : [...named, { name: sds, path: ['cluster_manager', 'sds', 'cluster', 'name'] }];
  return checkUnique(all, name => `there is another cluster named "${name}"`);
}

function checkVirtualHostNames(spec: ProxyConfigSpec): readonly Finding[] {
  const named = spec.virtual_hosts.map(({ name }, index) => ({
    name,
    path: ['virtual_hosts', index, 'name'],
  }));
  return checkUnique(named, name => `there is another virtual host named "${name}"`);
}

function checkDomains(spec: ProxyConfigSpec): readonly Finding[] {
  const domains = spec.virtual_hosts.flatMap(({ domains }, host) =>
    domains.map((name, index) => ({ name, path: ['virtual_hosts', host, 'domains', index] })),
  );
  return checkUnique(
    domains,
    name => `the domain "${name}" is listed twice; a request could not tell where to go`,
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

function checkRoutes(spec: ProxyConfigSpec): readonly Finding[] {
  const names = spec.clusters.map(({ name }) => name);
  return spec.virtual_hosts.flatMap(({ routes }, host) =>
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
