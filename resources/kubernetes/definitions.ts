import type { Cluster } from '#kubernetes/cluster.ts';
import { ClusterError, statusMessage } from '#kubernetes/cluster-error.ts';
import { isRecord } from '#kubernetes/kubernetes-object.ts';
import { VERSION } from '#resources/envelope.ts';
import { kindNames, SERVED_KINDS, type ServedKind } from './served-kinds.ts';

/**
 * Which of our kinds the API has in this group; none when it does not know the group. Throws ClusterError.
 * Source: Kubernetes API concepts, "API discovery" (APIResourceList); everybody who is known to the API may ask this.
 */
export async function definedKinds(cluster: Cluster, group: string): Promise<ReadonlySet<ServedKind>> {
  const { status, body } = await cluster.call({ method: 'GET', path: `/apis/${group}/${VERSION}` });
  if (status === 404) return new Set();
  if (status !== 200 || !isRecord(body) || !Array.isArray(body.resources))
    throw new ClusterError(
      `The Kubernetes API at ${cluster.server} does not say which kinds it has in ${group}/${VERSION}: ${status} ${statusMessage(body)}`,
      status,
    );
  const names = new Set(body.resources.map(resource => (isRecord(resource) ? resource.name : undefined)));
  return new Set(SERVED_KINDS.filter(kind => names.has(kindNames(kind).plural)));
}
