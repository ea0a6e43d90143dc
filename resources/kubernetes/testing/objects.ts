import type { Cluster } from '#kubernetes/cluster.ts';
import type { KubernetesObject } from '#kubernetes/kubernetes-object.ts';
import { listObjects } from '#kubernetes/list.ts';
import type { Resource } from '#kubernetes/resource.ts';
import {
  createObject,
  deleteObject,
  getObject,
  patchObject,
  type Written,
} from '#kubernetes/write.ts';
import { VERSION } from '#resources/parse/envelope.ts';
import { customResourceDefinitions } from '../crd.ts';
import type { DefinedKind } from '../definitions.ts';
import { kindNames, SERVED_KINDS, type ServedKind } from '../served-kinds.ts';

const GROUP = 'gateway.internal';

/** A document of the operator's. */
export type Document = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly [field: string]: unknown;
};

const DEFINITIONS: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
};

/** Applies the definitions of our kinds, and waits until the server serves them. */
export async function applyDefinitions(cluster: Cluster, group = GROUP): Promise<void> {
  const definitions = customResourceDefinitions(group) as readonly KubernetesObject[];
  await Promise.all(definitions.map(each => createDefinition(cluster, each)));
  const collections = SERVED_KINDS.map(kind => ({
    group,
    version: VERSION,
    plural: kindNames(kind).plural,
  }));
  await Promise.all(collections.map(collection => served(cluster, collection)));
}

/** Creates a definition, which the server serves some time later. */
export async function createDefinition(
  cluster: Cluster,
  definition: KubernetesObject,
): Promise<void> {
  const written = await createObject({ cluster, resource: DEFINITIONS }, definition);
  if (written.kind !== 'written') throw new Error(written.message);
}

/** Applies a definition of a kind that we do not serve, and waits until the server serves it. */
export async function applyDefinition(
  cluster: Cluster,
  { kind, plural, version }: DefinedKind,
  group = GROUP,
): Promise<void> {
  const schema = {
    openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  };
  const names = { kind, plural, singular: kind.toLowerCase() };
  const versions = [{ name: version, served: true, storage: true, schema }];
  const metadata = { name: `${plural}.${group}` };
  const spec = { group, scope: 'Namespaced', names, versions };
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata,
    spec,
  };
  await createDefinition(cluster, definition);
  await served(cluster, { group, version, plural });
}

export async function removeDefinition(
  cluster: Cluster,
  plural: string,
  group = GROUP,
): Promise<void> {
  await deleteObject({ cluster, resource: DEFINITIONS }, `${plural}.${group}`);
}

/** Waits until the server serves a collection. */
export async function served(cluster: Cluster, resource: Resource): Promise<void> {
  for (;;) {
    const found = await listObjects(cluster, { resource }).catch(() => undefined);
    if (found !== undefined) return;
    await new Promise(resolve => setTimeout(resolve, 20));
  }
}

/** Where objects like this document are. */
export function collectionOf({
  apiVersion,
  kind,
  metadata: { namespace = 'default' },
}: Document): Resource {
  if (apiVersion === 'v1')
    return { group: '', version: 'v1', plural: `${kind.toLowerCase()}s`, namespace };
  const [group = '', version = ''] = apiVersion.split('/');
  return { group, version, plural: kindNames(kind as ServedKind).plural, namespace };
}

export function create(cluster: Cluster, document: Document): Promise<Written> {
  return createObject({ cluster, resource: collectionOf(document) }, document);
}

export function patch(cluster: Cluster, document: Document, change: object): Promise<Written> {
  return patchObject({ cluster, resource: collectionOf(document) }, document.metadata.name, change);
}

export function remove(cluster: Cluster, document: Document): Promise<Written['kind']> {
  return deleteObject({ cluster, resource: collectionOf(document) }, document.metadata.name);
}

export function read(cluster: Cluster, document: Document): Promise<KubernetesObject | undefined> {
  return getObject({ cluster, resource: collectionOf(document) }, document.metadata.name);
}
