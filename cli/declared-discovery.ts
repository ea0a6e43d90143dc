import { discoveryClusters } from '#controlplane/compile/clusters/discovery-cluster.ts';
import type { JsonObject } from '#protos/json.ts';
import type { Collected } from '#resources/parse/collect.ts';
import { toResourceSet } from '#resources/resource-set.ts';
import { parseAddress, SDS } from './built-in-addresses.ts';

/**
 * Returns the clusters that a node group's bootstrap needs for the discovery services in its
 * ProxyConfigs, beside the built-in one at `sds`.
 */
export function declaredDiscovery(
  { resources, rejected }: Collected,
  group: string,
  sds: string,
): readonly JsonObject[] {
  const set = toResourceSet(resources.values(), rejected.values());
  return discoveryClusters(set, group, parseAddress('--sds', sds, SDS));
}
