import type { JsonObject } from '#protos/json.ts';
import { CLUSTER_LOAD_ASSIGNMENT } from '#protos/type-url.ts';
import type { Instance } from './instance.ts';

/**
 * Returns the instances of one service as Envoy's ClusterLoadAssignment (proto3 JSON). Equal sets
 * give equal JSON in any order, because localities and endpoints are sorted. Of two instances with
 * one address and port the first counts.
 * See Envoy's config.endpoint.v3.ClusterLoadAssignment.
 */
export function loadAssignment(service: string, instances: readonly Instance[]): JsonObject {
  const byLocality = Map.groupBy(uniqueInstances(instances), localityKey);
  const localities = [...byLocality]
    .sort(([a], [b]) => compare(a, b))
    .map(([, members]) => members);
  return {
    '@type': CLUSTER_LOAD_ASSIGNMENT,
    cluster_name: service,
    endpoints: localities.map(localityEndpoints),
  };
}

/** Returns the instances sorted by address and port, each address and port once. */
export function uniqueInstances(instances: readonly Instance[]): readonly Instance[] {
  const unique = new Map<string, Instance>();
  for (const instance of instances) {
    const key = `${instance.address} ${instance.port}`;
    if (!unique.has(key)) unique.set(key, instance);
  }
  return [...unique.values()].sort((a, b) => compare(a.address, b.address) || a.port - b.port);
}

function localityEndpoints(members: readonly Instance[]): JsonObject {
  return { locality: members[0]?.locality, lb_endpoints: members.map(lbEndpoint) };
}

function lbEndpoint(instance: Instance): JsonObject {
  return {
    endpoint: {
      address: { socket_address: { address: instance.address, port_value: instance.port } },
      hostname: instance.hostname,
    },
    health_status: instance.health_status,
    load_balancing_weight: instance.load_balancing_weight,
  };
}

function localityKey({ locality }: Instance): string {
  return JSON.stringify([locality?.region ?? '', locality?.zone ?? '', locality?.sub_zone ?? '']);
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
