import type { KubernetesObject } from '#kubernetes/kubernetes-object.ts';
import type { Container, PodSpec } from '../manifests.ts';

/** A pod as the API gives it. */
export type PodObject = KubernetesObject & {
  readonly metadata: { readonly namespace: string; readonly uid: string };
  readonly spec: PodSpec & { readonly nodeName?: string };
};

/** Reads a pod of the API. A container may lack what those of our manifests always have. */
export function readPod(object: KubernetesObject): PodObject {
  const { spec } = object as PodObject;
  const complete = (container: Partial<Container>) => ({ securityContext: {}, ...container });
  return {
    ...object,
    spec: {
      ...spec,
      containers: spec.containers.map(complete),
      initContainers: (spec.initContainers ?? []).map(complete),
    },
  } as PodObject;
}

/** Returns the value of a `fieldPath`, such as `metadata.name` or `status.podIP`. */
export function fieldOf(pod: PodObject, address: string, path: string): string {
  const label = /^metadata\.(labels|annotations)\['(.+)'\]$/.exec(path);
  if (label !== null) {
    const [, kind = '', key = ''] = label;
    return String((pod.metadata[kind] as Readonly<Record<string, string>>)?.[key] ?? '');
  }
  const known: Readonly<Record<string, string | undefined>> = {
    'metadata.name': pod.metadata.name,
    'metadata.namespace': pod.metadata.namespace,
    'metadata.uid': pod.metadata.uid,
    'spec.nodeName': pod.spec.nodeName,
    'spec.serviceAccountName': pod.spec.serviceAccountName,
    'status.podIP': address,
    'status.hostIP': address,
  };
  const value = known[path];
  if (value === undefined) throw new Error(`the node knows no field ${path}`);
  return value;
}
