import type { Rejected } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { isGatewayGroup } from '#resources/words/gateway-group.ts';
import { remembered } from '#xds/remembered.ts';

/**
 * The group of the proxies that clients from outside reach. All others are application proxies
 * behind it.
 */
export const EDGE = 'edge';

/** The groups of our own services, which receive their configuration over the same protocol. */
export const EXT_AUTHZ = 'ext-authz';
export const RATELIMIT_SERVICE = 'ratelimit-service';
export const SDS = 'sds';
export const SERVICE_GROUPS: readonly string[] = [EXT_AUTHZ, RATELIMIT_SERVICE, SDS];

/** Returns whether these are proxies, and none of our own services. */
export function isProxy(group: string): boolean {
  return !SERVICE_GROUPS.includes(group);
}

/** Returns whether only other proxies connect to these. Clients connect to those of Gateways. */
export function isBehindEdge(group: string): boolean {
  return group !== EDGE && !isGatewayGroup(group);
}

const EDGE_KINDS: readonly string[] = ['Filter', 'FilterPolicy', 'Host', 'Listener', 'TLSContext'];

/**
 * Returns the part of the resources that is for this node group. Filters, FilterPolicies, Hosts,
 * Listeners and TLSContexts, those in force and those closed, are the edge's. The TLSContexts for
 * services are looked up among all.
 */
export function ofNodeGroup(resources: ResourceSet, group: string): ResourceSet {
  return {
    ...resources,
    mappings: mappingsByGroup(resources.mappings).get(group) ?? [],
    proxyConfigs: resources.proxyConfigs.filter(({ spec }) => spec.node_group === group),
    filterPolicies: group === EDGE ? resources.filterPolicies : [],
    hosts: group === EDGE ? resources.hosts : [],
    listeners: group === EDGE ? resources.listeners : [],
    tlsContexts: group === EDGE ? resources.tlsContexts : [],
    closed: resources.closed.filter(item =>
      EDGE_KINDS.includes(item.kind) ? group === EDGE : closedGroup(item) === group,
    ),
  };
}

/** Returns the node group whose requests a rejected Mapping or ProxyConfig closes. */
export function closedGroup({ match, virtualHosts }: Rejected): string | undefined {
  return (match ?? virtualHosts)?.node_group;
}

/** Returns the Mappings of each node group. Each group asks, so a list is gone through once. */
export const mappingsByGroup = remembered((mappings: ResourceSet['mappings']) =>
  Map.groupBy(mappings, ({ spec }) => spec.node_group),
);
