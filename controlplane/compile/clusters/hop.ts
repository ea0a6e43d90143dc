import { DEFAULT_TRUST_DOMAIN } from '#certificates/identity.ts';
import type { MappingSpec } from '#resources/kinds/mapping/mapping-spec.ts';
import { askedService } from '#resources/kinds/mapping/mapping-tls.ts';
import type { ProxyCluster } from '#resources/kinds/proxy-config/cluster.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { EDGE } from '../node-groups.ts';
import type { CompileOptions } from '../options.ts';

/** What of the options decides how proxies reach each other. */
export type Hop = { readonly isDefault: boolean; readonly trustDomain: string };

export function hopOf({ hopTls = false, trustDomain = DEFAULT_TRUST_DOMAIN }: CompileOptions): Hop {
  return { isDefault: hopTls, trustDomain };
}

/**
 * The service whose proxies a Mapping's requests go to by mutual TLS; undefined: they do not.
 * `hop_tls: true` holds whatever the default is.
 */
export function hopService(spec: MappingSpec, hop: Hop): string | undefined {
  const { host, scheme } = askedService(spec);
  const isHop = scheme === 'http' && (spec.hop_tls ?? (hop.isDefault && spec.resolver === 'sds'));
  return isHop ? serviceOfHost(host) : undefined;
}

/** The same of a ProxyConfig's cluster. */
export function hopClusterService(cluster: ProxyCluster, hop: Hop): string | undefined {
  const isHop = cluster.type === 'sds' && (cluster.hop_tls ?? hop.isDefault);
  return isHop ? serviceOfHost(cluster.service_name ?? cluster.name) : undefined;
}

/**
 * The node groups whose proxies may connect to those of `group`: the edge, and those that send its
 * service requests.
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
 * Whether the proxies of `group` are beside instances of `service`: it has that name, or that name
 * and a number.
 */
export function isProxyOf(group: string, service: string): boolean {
  return group === service || /^-[0-9]+$/.test(tail(group, service));
}

/** What `group` has behind `service`; empty: it does not begin with it. */
function tail(group: string, service: string): string {
  return group.startsWith(service) ? group.slice(service.length) : '';
}

/** Of `user-service.default` the name of the service: that of its proxies' node group. */
export function serviceOfHost(host: string): string {
  return (host.split('.')[0] ?? host).toLowerCase();
}
