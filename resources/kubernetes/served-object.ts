import type { KubernetesObject } from '#kubernetes/kubernetes-object.ts';
import type { Resource } from '#kubernetes/resource.ts';
import type { ParsedObject, ParseObject } from './object-parser.ts';

/** An object of a served kind, with its content and its status. */
export type ServedObject = {
  /** Where it is: a kind's collection in its namespace. */
  readonly collection: Resource;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
  /** Whether it is deleted as soon as its finalizers allow it. */
  readonly deleting: boolean;
  readonly finalizers: readonly string[];
  readonly status: unknown;
  /** Empty when it is for another gateway. The same object until it is edited. */
  readonly parsed: ParsedObject;
};

export function toServedObject(
  object: KubernetesObject,
  collection: Resource,
  parse: ParseObject,
): ServedObject {
  const {
    name,
    namespace = '',
    uid = '',
    resourceVersion = '',
    generation = 0,
    deletionTimestamp,
    finalizers,
  } = object.metadata;
  return {
    collection: { ...collection, namespace },
    namespace,
    name,
    uid,
    resourceVersion,
    generation,
    deleting: deletionTimestamp !== undefined,
    finalizers: Array.isArray(finalizers) ? finalizers.map(String) : [],
    status: object.status,
    parsed: parse(object),
  };
}
