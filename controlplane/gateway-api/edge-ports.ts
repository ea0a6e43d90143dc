import { EDGE } from '#controlplane/compile/node-groups.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import type { GatewayOptions } from './gateway-options.ts';

/**
 * Returns the ports at which the edge serves Mappings, ProxyConfigs and Hosts, in order. Gateways
 * that share the edge cannot have these. Where the edge has nothing else to serve, they can.
 */
export function edgePorts(
  { hosts, mappings, proxyConfigs }: ResourceSet,
  { edge, edgeTls, sharedEdge }: GatewayOptions,
): readonly number[] {
  if (!sharedEdge || edge === undefined) return [];
  const own = proxyConfigs.filter(({ spec }) => spec.node_group === EDGE);
  const isServing = mappings.some(({ spec }) => spec.node_group === EDGE);
  if (hosts.length + own.length === 0 && !isServing) return [];
  const listeners = own.flatMap(({ spec }) => spec.listener ?? []);
  const moved = listeners.filter(({ address }) => address === edge.host).map(({ port }) => port);
  const plain = listeners.length === 0 ? [edge.port] : moved;
  const tls = hosts.length === 0 || edgeTls === undefined ? [] : [edgeTls.port];
  return [...new Set([...plain, ...tls])].sort((a, b) => a - b);
}
