import { DEFAULT_TRUST_DOMAIN } from '#certificates/identity.ts';
import type { MappingSpec } from '#resources/kinds/mapping/mapping-spec.ts';
import { askedService } from '#resources/kinds/mapping/mapping-tls.ts';
import type { ProxyCluster } from '#resources/kinds/proxy-config/cluster.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { INSTANCE } from '#resources/words/gateway-group.ts';
import { EDGE } from '../node-groups.ts';
import type { CompileOptions } from '../options.ts';

/** The options that decide how proxies reach each other. */
export type Hop = { readonly isDefault: boolean; readonly trustDomain: string };

export function hopOf({ hopTls = false, trustDomain = DEFAULT_TRUST_DOMAIN }: CompileOptions): Hop {
  return { isDefault: hopTls, trustDomain };
}

/**
 * Returns the service whose proxies get a Mapping's requests by mutual TLS. `hop_tls: true` counts
 * whatever the default is.
 * @returns undefined when they go there without it
 */
export function hopService(spec: MappingSpec, hop: Hop): string | undefined {
  const { host, scheme } = askedService(spec);
  const isHop = scheme === 'http' && (spec.hop_tls ?? (hop.isDefault && spec.resolver === 'sds'));
  return isHop ? serviceOfHost(host) : undefined;
}

/** Returns the same for a ProxyConfig's cluster. */
export function hopClusterService(cluster: ProxyCluster, hop: Hop): string | undefined {
  const isHop = cluster.type === 'sds' && (cluster.hop_tls ?? hop.isDefault);
  return isHop ? serviceOfHost(cluster.service_name ?? cluster.name) : undefined;
}

/**
 * Returns the node groups whose proxies may connect to those of `group`: the edge, and the groups
 * that send requests to its service.
 */
export function callersOf(resources: ResourceSet, group: string, hop: Hop): readonly string[] {
  const isOwn = (service: string | undefined) => service !== undefined && isProxyOf(group, service);
  const callers = [
    ...resources.mappings.filter(({ spec }) => !spec.host_redirect && isOwn(hopService(spec, hop))),
    ...resources.proxyConfigs.filter(({ spec }) =>
      spec.clusters.some(cluster => isOwn(hopClusterService(cluster, hop))),
    ),
  ].map(({ spec }) => spec.node_group);
  return [...new Set([EDGE, ...callers])].sort();
}

/**
 * Returns whether the proxies of `group` are beside instances of `service`. The group has that
 * name, or that name and a number.
 */
export function isProxyOf(group: string, service: string): boolean {
  return group === service || OF_INSTANCE.test(tail(group, service));
}

const OF_INSTANCE = new RegExp(`^${INSTANCE}$`);

/** Returns what follows `service` in `group`, or `''` when the group does not begin with it. */
function tail(group: string, service: string): string {
  return group.startsWith(service) ? group.slice(service.length) : '';
}

/** Returns the service's name in `user-service.default`, which is the node group of its proxies. */
export function serviceOfHost(host: string): string {
  return (host.split('.')[0] ?? host).toLowerCase();
}
