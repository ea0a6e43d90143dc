import type { KubernetesObject } from '#kubernetes/kubernetes-object.ts';
import { objectKey } from '#kubernetes/kubernetes-object.ts';
import type { Selection } from '#kubernetes/list.ts';
import type { Resource } from '#kubernetes/resource.ts';
import { EDGES_LABEL } from '#resources/words/gateway-edges.ts';

/** The collections of what is made, by kind. */
const COLLECTIONS = {
  ConfigMap: { group: '', version: 'v1', plural: 'configmaps' },
  ServiceAccount: { group: '', version: 'v1', plural: 'serviceaccounts' },
  Deployment: { group: 'apps', version: 'v1', plural: 'deployments' },
  Service: { group: '', version: 'v1', plural: 'services' },
  HorizontalPodAutoscaler: {
    group: 'autoscaling',
    version: 'v2',
    plural: 'horizontalpodautoscalers',
  },
  PodDisruptionBudget: { group: 'policy', version: 'v1', plural: 'poddisruptionbudgets' },
} satisfies Record<string, Resource>;

export type EdgeKind = keyof typeof COLLECTIONS;

export const EDGE_KINDS = Object.keys(COLLECTIONS) as readonly EdgeKind[];

/** Returns the collection of a kind, in one namespace or in all. */
export function collectionOf(kind: EdgeKind, namespace?: string): Resource {
  return { ...COLLECTIONS[kind], namespace };
}

/**
 * Selects what is made for Gateways. ConfigMaps are selected by name, so that a right to this one
 * name suffices.
 */
export function edgeSelection(kind: EdgeKind, name: string, namespace?: string): Selection {
  const resource = collectionOf(kind, namespace);
  if (kind === 'ConfigMap') return { resource, fieldSelector: `metadata.name=${name}` };
  return { resource, labelSelector: `${EDGES_LABEL}=${name}` };
}

/** Returns `Service/shop/public-gateway`. */
export function edgeKey(object: KubernetesObject): string {
  return `${object.kind}/${objectKey(object)}`;
}
