import type { JsonObject } from '#protos/json.ts';
import type { MappingSpec } from '#resources/kinds/mapping/mapping-spec.ts';
import type { HostPort } from '#resources/words/host.ts';
import { ipVersion } from '#resources/words/ip-address.ts';
import { toSocketAddress } from '../socket-address.ts';
import { OUTLIER_DETECTION } from './outlier-detection.ts';

/** Returns members at fixed IP addresses. The only one is never taken out. */
export function staticMembers(name: string, hosts: readonly HostPort[]): JsonObject {
  return {
    type: 'STATIC',
    load_assignment: loadAssignment(name, hosts),
    ...(hosts.length > 1 ? { outlier_detection: OUTLIER_DETECTION } : {}),
  };
}

/**
 * The addresses that are looked up in DNS, and how often. Default: IPv4 for a name with both kinds,
 * every five seconds.
 */
export type DnsUse = Partial<Pick<MappingSpec, 'enable_ipv4' | 'enable_ipv6' | 'respect_dns_ttl'>>;

/** Returns all addresses that DNS has for the names as members. */
export function dnsMembers(name: string, hosts: readonly HostPort[], use: DnsUse = {}): JsonObject {
  return {
    type: 'STRICT_DNS',
    dns_lookup_family: lookupFamily(use),
    ...(use.respect_dns_ttl === true ? { respect_dns_ttl: true } : {}),
    load_assignment: loadAssignment(name, hosts),
    outlier_detection: OUTLIER_DETECTION,
  };
}

function lookupFamily({ enable_ipv4 = true, enable_ipv6 }: DnsUse): string {
  if (!enable_ipv4) return 'V6_ONLY';
  if (enable_ipv6 === undefined) return 'V4_PREFERRED';
  return enable_ipv6 ? 'AUTO' : 'V4_ONLY';
}

/** Returns the only member of a service that is an IP address, or all that DNS has for its name. */
export function membersOf(name: string, { host, port }: HostPort, use?: DnsUse): JsonObject {
  const hosts = [{ host, port }];
  return ipVersion(host) === 0 ? dnsMembers(name, hosts, use) : staticMembers(name, hosts);
}

/** Returns the members that the discovery service has for `service`. */
export function discoveredMembers(service: string, edsConfig: JsonObject): JsonObject {
  return {
    type: 'EDS',
    eds_cluster_config: { service_name: service, eds_config: edsConfig },
    outlier_detection: OUTLIER_DETECTION,
  };
}

function loadAssignment(name: string, hosts: readonly HostPort[]): JsonObject {
  const lb_endpoints = hosts.map(host => ({ endpoint: { address: toSocketAddress(host) } }));
  return { cluster_name: name, endpoints: [{ lb_endpoints }] };
}
