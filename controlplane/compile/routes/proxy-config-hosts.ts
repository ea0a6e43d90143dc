import type { JsonObject } from '#protos/json.ts';
import type { ProxyConfigSpec } from '#resources/kinds/proxy-config/proxy-config-spec.ts';
import type { Problem } from '#resources/problem.ts';
import type { Rejected, Resource } from '#resources/resource.ts';
import type { NamedCluster } from '../clusters/cluster-names.ts';
import { STREAM_IDLE_MS, toDuration } from '../duration.ts';
import { problemOf } from '../problem-of.ts';
import { closed } from './closed-route.ts';
import { NO_END, retriesWithin } from './retry-policy.ts';
import type { RouteEntry } from './route-entry.ts';
import { distinctUpgrades, upgradeConfigs } from './upgrades.ts';

/** A virtual host that a ProxyConfig declares. Its routes are for its own domains only. */
export type DeclaredHost = {
  readonly name: string;
  readonly domains: readonly string[];
  readonly entries: readonly RouteEntry[];
  readonly origin: string;
};

type ByName = ReadonlyMap<string, NamedCluster>;
type Route = ProxyConfigSpec['virtual_hosts'][number]['routes'][number];

/**
 * Returns the virtual hosts of the ProxyConfigs of one node group. Of two with one domain, the
 * first ProxyConfig's counts. `sent` are protocols that requests to the group's own application may
 * switch to, whatever its routes say. What those in `rejected` would have served is answered 500,
 * on domains that no other has.
 */
export function proxyConfigHosts(
  proxyConfigs: readonly Resource<'ProxyConfig'>[],
  clusters: ByName,
  sent: readonly string[] = [],
  rejected: readonly Rejected[] = [],
): { readonly hosts: readonly DeclaredHost[]; readonly problems: readonly Problem[] } {
  const owners = new Map<string, string>();
  const problems: Problem[] = [];
  const hosts: DeclaredHost[] = [];
  for (const proxyConfig of proxyConfigs) {
    const applications = applicationClusters(proxyConfig);
    for (const { name, domains, routes } of proxyConfig.spec.virtual_hosts) {
      const free = domains.filter(domain => !owners.has(domain));
      const taken = domains.filter(domain => owners.has(domain));
      problems.push(...taken.map(domain => conflict(proxyConfig, domain, owners.get(domain))));
      for (const domain of free) owners.set(domain, proxyConfig.id);
      const entries = routes.map(route => {
        const allowed = [...route.allow_upgrade, ...(applications.has(route.cluster) ? sent : [])];
        return routeEntry(proxyConfig.id, route, distinctUpgrades(allowed), clusters);
      });
      if (free.length > 0) hosts.push({ name, domains: free, entries, origin: proxyConfig.id });
    }
  }
  for (const { id, virtualHosts } of rejected) {
    for (const { domains, prefixes } of virtualHosts?.hosts ?? []) {
      const free = domains.filter(domain => !owners.has(domain));
      for (const domain of free) owners.set(domain, id);
      const [name] = free;
      const entries = prefixes.map(prefix => closedEntry(id, prefix));
      if (name !== undefined && entries.length > 0)
        hosts.push({ name, domains: free, entries, origin: id });
    }
  }
  return { hosts, problems };
}

/** A service that is found by discovery is another one. */
function applicationClusters({ spec }: Resource<'ProxyConfig'>): ReadonlySet<string> {
  return new Set(spec.clusters.filter(({ type }) => type !== 'sds').map(({ name }) => name));
}

function routeEntry(
  id: string,
  route: Route,
  upgrades: readonly string[],
  clusters: ByName,
): RouteEntry {
  return {
    rank: rankOf(id, route.prefix),
    route: {
      name: id,
      match: { prefix: route.prefix },
      route: routeAction(route, upgrades, clusters),
    },
    origins: [id],
  };
}

function closedEntry(id: string, prefix: string): RouteEntry {
  return { rank: rankOf(id, prefix), route: closed(id, { prefix }), origins: [id] };
}

function rankOf(id: string, prefix: string): RouteEntry['rank'] {
  return { precedence: 0, exact: false, length: prefix.length, conditions: 0, host: '*', id };
}

function routeAction(
  { cluster, timeout_ms }: Route,
  upgrades: readonly string[],
  clusters: ByName,
): JsonObject {
  return {
    cluster: clusters.get(cluster)?.name ?? cluster,
    timeout: NO_END,
    ...(timeout_ms > STREAM_IDLE_MS ? { idle_timeout: toDuration(timeout_ms) } : {}),
    ...upgradeConfigs(upgrades),
    ...retriesWithin(timeout_ms),
  };
}

function conflict(
  proxyConfig: Resource<'ProxyConfig'>,
  domain: string,
  owner: string | undefined,
): Problem {
  return problemOf(
    proxyConfig,
    'error',
    'spec.virtual_hosts',
    `the domain "${domain}" is already that of a virtual host in ${owner}, for the same node group. That one counts`,
  );
}
