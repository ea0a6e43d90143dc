import type { JsonObject } from '#protos/json.ts';
import type { HostPort } from '#resources/host.ts';
import { ipVersion } from '#resources/ip-address.ts';
import { toSocketAddress } from '../socket-address.ts';
import { OUTLIER_DETECTION } from './outlier-detection.ts';

/** Members at fixed IP addresses. */
export function staticMembers(name: string, hosts: readonly HostPort[]): JsonObject {
  return { type: 'STATIC', load_assignment: loadAssignment(name, hosts) };
}

/** Members are all addresses that DNS has for the names. Of a name with both kinds of address, the IPv4 ones are taken. */
export function dnsMembers(name: string, hosts: readonly HostPort[]): JsonObject {
  return {
    type: 'STRICT_DNS',
    dns_lookup_family: 'V4_PREFERRED',
    load_assignment: loadAssignment(name, hosts),
    outlier_detection: OUTLIER_DETECTION,
  };
}

/** The one member of a service that is an IP address, or all that DNS has for its name. */
export function membersOf(name: string, { host, port }: HostPort): JsonObject {
  return ipVersion(host) === 0 ? dnsMembers(name, [{ host, port }]) : staticMembers(name, [{ host, port }]);
}

/** Members that the discovery service names for `service`. */
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
