import type { ProxyCluster } from '#resources/kinds/proxy-config/cluster.ts';
import type { Resource } from '#resources/resource.ts';
import type { Upstream } from './upstream.ts';

/**
 * Returns the field of a resource that says where this upstream is.
 * @returns undefined for a resource that only has settings for it, as a TLSContext
 */
export function upstreamField(resource: Resource, upstream: Upstream): string | undefined {
  switch (resource.kind) {
    case 'Mapping':
    case 'RateLimitService':
      return 'spec.service';
    case 'ProxyConfig':
      return clusterField(resource.spec.clusters, upstream);
    default:
      return undefined;
  }
}

function clusterField(clusters: readonly ProxyCluster[], { cluster }: Upstream): string {
  const at = clusters.findIndex(({ name }) => name === cluster || `${name}~` === cluster);
  const found = clusters[at];
  if (found === undefined) return 'spec.clusters';
  const part =
    found.type !== 'sds' ? 'hosts' : found.service_name === undefined ? 'name' : 'service_name';
  return `spec.clusters[${at}].${part}`;
}
