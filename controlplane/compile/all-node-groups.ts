import type { ResourceSet } from '#resources/resource-set.ts';
import { gatewayApiOf } from './gateways/gateway-api-of.ts';
import { closedGroup, EDGE, mappingsByGroup, SERVICE_GROUPS } from './node-groups.ts';

/**
 * Returns every node group of proxies that has configuration, in order. `edge` always has. The
 * groups of our services are left out.
 */
export function nodeGroups(
  resources: ResourceSet,
  options: Parameters<typeof gatewayApiOf>[1] = {},
): readonly string[] {
  const { gateways } = gatewayApiOf(resources, options);
  const mappings = mappingsByGroup(resources.mappings).keys();
  const proxyConfigs = resources.proxyConfigs.map(({ spec }) => spec.node_group);
  const closed = resources.closed.flatMap(item => closedGroup(item) ?? []);
  const served = gateways.map(({ group }) => group);
  const groups = new Set([EDGE, ...mappings, ...proxyConfigs, ...closed, ...served]);
  return [...groups].filter(group => !SERVICE_GROUPS.includes(group)).sort();
}
