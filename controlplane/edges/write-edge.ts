import type { Cluster } from '#kubernetes/cluster.ts';
import type { KubernetesObject } from '#kubernetes/kubernetes-object.ts';
import { applyObject, deleteObject, getObject } from '#kubernetes/write.ts';
import { type EdgeChange, isOurs } from './edge-changes.ts';
import { collectionOf, type EdgeKind } from './edge-collections.ts';

/** One manager owns the fields of all that is made, so that a field left out is taken back. */
const FIELD_MANAGER = 'gateway-edges';

/** How a write has ended. `why` is absent when it did what was wanted. */
export type EdgeWritten = {
  readonly object?: KubernetesObject;
  readonly why?: string;
};

/**
 * Writes one change. An object of that name that was not made for this Gateway is never touched.
 * @throws ClusterError when the API is away
 */
export async function writeEdge(
  cluster: Cluster,
  { kind, object, isPresent }: EdgeChange,
): Promise<EdgeWritten> {
  const { name, namespace, uid } = object.metadata;
  const target = { cluster, resource: collectionOf(object.kind as EdgeKind, namespace) };
  const what = `${object.kind} ${namespace}/${name}`;
  if (kind === 'delete') {
    const ended = await deleteObject(target, name, uid);
    return ended === 'refused' ? { why: `${what} cannot be deleted` } : {};
  }
  const found = isPresent ? undefined : await getObject(target, name);
  if (found !== undefined && !isOurs(found, object)) return { why: nameTaken(object) };
  const written = await applyObject(target, object, { fieldManager: FIELD_MANAGER, force: true });
  if (written.kind === 'written') return { object: written.object };
  return { why: `${what} cannot be written: ${written.message}` };
}

/** Returns why an object cannot be made whose name this one has. */
export function nameTaken({ kind, metadata: { name, namespace } }: KubernetesObject): string {
  return `there is another ${kind} ${namespace}/${name}, which was not made for this Gateway. Rename it`;
}
