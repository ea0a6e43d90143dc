import { envoyName } from '#controlplane/compile/clusters/proxy-config-clusters.ts';
import { backendOfCluster } from '#controlplane/compile/gateways/backend-cluster-name.ts';
import { isGatewayApiKind } from '#resources/kinds/known-kinds.ts';
import type { ProxyCluster } from '#resources/kinds/proxy-config/cluster.ts';
import type { Resource } from '#resources/resource.ts';
import { type Fields, isFields } from '#resources/words/fields.ts';
import type { Upstream } from './upstream.ts';

/**
 * Returns the field of a resource that says where this upstream is.
 * @returns undefined for a resource that only has settings for it, as a TLSContext
 */
export function upstreamField(resource: Resource, upstream: Upstream): string | undefined {
  switch (resource.kind) {
    case 'Mapping':
    case 'RateLimitService':
    case 'LogService':
    case 'TracingService':
      return 'spec.service';
    case 'ProxyConfig':
      return clusterField(resource.spec.clusters, upstream);
    default:
      return isGatewayApiKind(resource.kind) ? backendField(resource, upstream) : undefined;
  }
}

function backendField(
  { namespace: own, spec }: Resource,
  { cluster }: Upstream,
): string | undefined {
  const target = backendOfCluster(cluster);
  const isIt = ({ name, namespace = own, port }: Fields) =>
    name === target?.name && namespace === target?.namespace && port === target?.port;
  return target && fieldOf(spec, 'spec', isIt);
}

/** Returns the first reference to a backend that is it, in or below `field`. */
function fieldOf(
  value: unknown,
  field: string,
  isIt: (reference: Fields) => boolean,
): string | undefined {
  if (!isFields(value) && !Array.isArray(value)) return undefined;
  if (isFields(value) && /\.backendRef(s\[\d+\])?$/.test(field) && isIt(value)) return field;
  for (const [key, each] of Object.entries(value)) {
    const below = Array.isArray(value) ? `${field}[${key}]` : `${field}.${key}`;
    const found = fieldOf(each, below, isIt);
    if (found !== undefined) return found;
  }
  return undefined;
}

function clusterField(clusters: readonly ProxyCluster[], { cluster }: Upstream): string {
  const at = clusters.findIndex(each => envoyName(each) === cluster);
  const found = clusters[at];
  if (found === undefined) return 'spec.clusters';
  const part =
    found.type !== 'sds' ? 'hosts' : found.service_name === undefined ? 'name' : 'service_name';
  return `spec.clusters[${at}].${part}`;
}
