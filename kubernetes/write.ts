import type { ApiAnswer, ApiRequest, Cluster } from './cluster.ts';
import { statusMessage } from './cluster-error.ts';
import { isKubernetesObject, type KubernetesObject } from './kubernetes-object.ts';
import { refused } from './list.ts';
import { type Resource, resourcePath } from './resource.ts';

/**
 * How a write has ended. Answers of the API are values. Some may succeed when they are tried again
 * with a newer object.
 */
export type Written =
  | { readonly kind: 'written'; readonly object: KubernetesObject }
  /**
   * Another writer was first (409). The object exists already, has another version, or another
   * manager owns the field.
   */
  | { readonly kind: 'conflict'; readonly message: string }
  /** The object, or its kind, does not exist (404). */
  | { readonly kind: 'missing'; readonly message: string }
  /** The API does not allow it, or finds the object wrong (another 4xx). */
  | { readonly kind: 'refused'; readonly status: number; readonly message: string };

export type Target = {
  readonly cluster: Cluster;
  readonly resource: Resource;
  readonly part?: 'status';
};

/**
 * Reads an object.
 * @returns undefined when there is none
 * @throws ClusterError
 */
export async function getObject(
  { cluster, resource }: Target,
  name: string,
): Promise<KubernetesObject | undefined> {
  const { status, body } = await cluster.call({
    method: 'GET',
    path: resourcePath(resource, name),
  });
  if (status === 200 && isKubernetesObject(body)) return body;
  if (status === 404) return undefined;
  throw refused(cluster, resource, 'get', status, body);
}

/**
 * Creates an object.
 * @throws ClusterError when the API is away
 */
export function createObject(target: Target, object: KubernetesObject): Promise<Written> {
  return write(target, { method: 'POST', path: resourcePath(target.resource), body: object });
}

/**
 * Replaces an object, or its status. When its metadata has a version, only that version is
 * replaced.
 * @throws ClusterError when the API is away
 */
export function updateObject(target: Target, object: KubernetesObject): Promise<Written> {
  return write(target, { method: 'PUT', path: pathOf(target, object.metadata.name), body: object });
}

/**
 * Applies on the server side. The fields of `object` are set and owned, and other fields stay. A
 * missing object is created. Fields of another manager are a conflict, unless `force` takes them
 * over.
 * @throws ClusterError when the API is away
 */
export function applyObject(
  target: Target,
  object: KubernetesObject,
  { fieldManager, force = false }: { readonly fieldManager: string; readonly force?: boolean },
): Promise<Written> {
  return write(target, {
    method: 'PATCH',
    path: pathOf(target, object.metadata.name),
    query: { fieldManager, force: String(force) },
    contentType: 'application/apply-patch+yaml',
    body: object,
  });
}

/**
 * Merges `patch` into an object, or its status (RFC 7396).
 * @throws ClusterError when the API is away
 */
export function patchObject(target: Target, name: string, patch: object): Promise<Written> {
  const contentType = 'application/merge-patch+json';
  return write(target, { method: 'PATCH', path: pathOf(target, name), contentType, body: patch });
}

/**
 * Deletes an object. Returns `missing` when it was not there. With `uid`, an object of another
 * identity is a conflict.
 * @throws ClusterError when the API is away
 */
export async function deleteObject(
  { cluster, resource }: Target,
  name: string,
  uid?: string,
): Promise<Written['kind']> {
  const answer = await cluster.call({
    method: 'DELETE',
    path: resourcePath(resource, name),
    ...(uid === undefined ? {} : { body: { preconditions: { uid } } }),
  });
  if (answer.status === 200 || answer.status === 202) return 'written';
  return failureOf(cluster, resource, 'delete', answer).kind;
}

function pathOf({ resource, part }: Target, name: string): string {
  return resourcePath(resource, name, part);
}

async function write({ cluster, resource }: Target, request: ApiRequest): Promise<Written> {
  const answer = await cluster.call(request);
  const { status, body } = answer;
  if ((status === 200 || status === 201) && isKubernetesObject(body))
    return { kind: 'written', object: body };
  return failureOf(cluster, resource, request.method.toLowerCase(), answer);
}

function failureOf(
  cluster: Cluster,
  resource: Resource,
  verb: string,
  { status, body, retryAfterMs }: ApiAnswer,
): Exclude<Written, { kind: 'written' }> {
  const message = statusMessage(body);
  if (status === 409) return { kind: 'conflict', message };
  if (status === 404) return { kind: 'missing', message };
  if (status >= 400 && status < 500 && status !== 401 && status !== 429)
    return { kind: 'refused', status, message };
  throw refused(cluster, resource, verb, status, body, retryAfterMs);
}
