import type { ApiRequest, Cluster } from './cluster.ts';
import { ClusterError, statusMessage } from './cluster-error.ts';
import {
  hasMetadata,
  isKubernetesObject,
  isRecord,
  type KubernetesObject,
} from './kubernetes-object.ts';
import { describeResource, type Resource, resourcePath } from './resource.ts';

export type Selection = {
  readonly resource: Resource;
  /** For example `metadata.name=tls`. With it, a right to one name suffices. */
  readonly fieldSelector?: string | undefined;
  readonly labelSelector?: string | undefined;
};

export type Listed = {
  readonly objects: readonly KubernetesObject[];
  /** A watch from here misses nothing. */
  readonly resourceVersion: string;
};

const PAGE = 500;
/** An API server gives up a request after this time (kube-apiserver, `--request-timeout`). */
const LONGEST_MS = 60_000;

export type ListOptions = {
  /** Whether each page may take as long as an API server works on it. */
  readonly patient?: boolean;
};

/**
 * Lists all objects of a selection as they are now, in pages of 500. See Kubernetes API concepts,
 * retrieving large results sets in chunks.
 * @throws ClusterError. Status 410 means that the list took too long and must begin again, because
 *   its pages no longer belong together
 */
export async function listObjects(
  cluster: Cluster,
  selection: Selection,
  { patient = false }: ListOptions = {},
): Promise<Listed> {
  const time = patient ? { timeoutMs: LONGEST_MS } : {};
  const objects: KubernetesObject[] = [];
  let next = '';
  for (;;) {
    const page = await listPage(cluster, selection, next, time);
    objects.push(...page.objects);
    if (page.next === '') return { objects, resourceVersion: page.resourceVersion };
    next = page.next;
  }
}

async function listPage(
  cluster: Cluster,
  selection: Selection,
  next: string,
  time: Pick<ApiRequest, 'timeoutMs'>,
) {
  const { resource, fieldSelector, labelSelector } = selection;
  const query = { limit: String(PAGE), continue: next || undefined, fieldSelector, labelSelector };
  const { status, body } = await cluster.call({
    method: 'GET',
    path: resourcePath(resource),
    query,
    ...time,
  });
  if (status !== 200) throw refused(cluster, resource, 'list', status, body);
  if (!hasMetadata(body) || !('items' in body) || !Array.isArray(body.items))
    throw new ClusterError(
      `${cluster.server} answers to a list of ${describeResource(resource)} with no list`,
    );
  const { resourceVersion, continue: more } = body.metadata as Readonly<Record<string, unknown>>;
  return {
    objects: body.items.filter(isKubernetesObject).map(item => withKind(item, body)),
    resourceVersion: String(resourceVersion),
    next: typeof more === 'string' ? more : '',
  };
}

/** The items of a list of a built-in kind do not say what they are. */
function withKind(item: KubernetesObject, list: object): KubernetesObject {
  if (item.kind !== undefined || !isRecord(list) || typeof list.kind !== 'string') return item;
  const apiVersion = typeof list.apiVersion === 'string' ? { apiVersion: list.apiVersion } : {};
  return { ...apiVersion, kind: list.kind.replace(/List$/, ''), ...item };
}

/** Makes the error for a request that the API refused, with a remedy where one is known. */
export function refused(
  { server }: Cluster,
  resource: Resource,
  verb: string,
  status: number,
  body: unknown,
  retryAfterMs?: number,
): ClusterError {
  const what = `${verb} ${describeResource(resource)}`;
  // A namespace that is deleted takes its RoleBindings along, and the API does not tell of it.
  const follows = resource.namespace !== undefined && ['list', 'watch'].includes(verb);
  const grant = follows
    ? 'If the namespace was deleted, take it out of the configuration. Otherwise grant it by a Role'
    : 'Grant it by a Role';
  const advice =
    status === 403 ? `. ${grant}` : status === 404 ? '. Apply its CustomResourceDefinition' : '';
  return new ClusterError(
    `The Kubernetes API at ${server} refuses to ${what}: ${status} ${statusMessage(body)}${advice}`,
    status,
    { retryAfterMs },
  );
}
