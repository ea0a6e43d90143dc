import { discoveryClusters } from '#controlplane/compile/clusters/discovery-cluster.ts';
import type { JsonObject } from '#protos/json.ts';
import type { Problem } from '#resources/problem.ts';
import { toResourceSet } from '#resources/resource-set.ts';
import { parseAddress } from './built-in-addresses.ts';
import { readResources } from './read-resources.ts';

/**
 * Returns the clusters that a node group's bootstrap needs for the discovery services in its
 * ProxyConfigs, beside the built-in one at `sds`.
 */
export function declaredDiscovery(
  resources: string,
  group: string,
  sds: string,
): { readonly clusters: readonly JsonObject[]; readonly problems: readonly Problem[] } {
  const { resources: read, refused, problems } = readResources([resources]);
  const set = toResourceSet(read.values(), refused.values());
  return { clusters: discoveryClusters(set, group, parseAddress('--sds', sds)), problems };
}
