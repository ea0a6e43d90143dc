import type { Cluster } from '#kubernetes/cluster.ts';
import type { KubernetesObject } from '#kubernetes/kubernetes-object.ts';
import type { Resource } from '#kubernetes/resource.ts';
import { createObject, getObject, updateObject } from '#kubernetes/write.ts';

/** An object with which another is removed. Source: the Kubernetes API, OwnerReference. */
export type Owner = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
};

export type KeptTexts = {
  readonly texts: Readonly<Record<string, string>>;
  readonly mark: string;
  readonly owners: readonly Owner[];
};

/** A Secret that this process writes. */
export type KeptSecret = {
  readonly place: string;
  /**
   * Reads its texts, and the version for the next write. Rejects when the API is away.
   * @returns undefined when there is no such Secret
   */
  read(): Promise<KeptTexts | undefined>;
  /**
   * Replaces its texts when it still has that version, or creates it. Rejects when the API is away
   * or refuses.
   * @returns false when another process was faster
   */
  write(texts: Readonly<Record<string, string>>, mark: string | undefined): Promise<boolean>;
};

const LABELS = { 'app.kubernetes.io/managed-by': 'gateway' };

export type KeptSecretOptions = {
  /** Default: the process's own namespace. */
  readonly namespace?: string;
  /** Returns the objects with which it is removed. Default: none. */
  owners?(): readonly Owner[];
};

/** `type` is such as `kubernetes.io/tls`. It never changes. */
export function keptSecret(
  cluster: Cluster,
  name: string,
  type: string,
  { namespace = cluster.namespace, owners = () => [] }: KeptSecretOptions = {},
): KeptSecret {
  const resource: Resource = { group: '', version: 'v1', plural: 'secrets', namespace };
  const target = { cluster, resource };
  const place = `Secret ${namespace}/${name}`;
  return {
    place,
    async read() {
      const object = await getObject(target, name);
      if (object === undefined) return undefined;
      const { resourceVersion: mark = '', ownerReferences } = object.metadata;
      return { texts: textsOf(object), mark, owners: (ownerReferences ?? []) as readonly Owner[] };
    },
    async write(texts, mark) {
      const metadata = { name, namespace, labels: LABELS, ownerReferences: owners() };
      const object = { apiVersion: 'v1', kind: 'Secret', type, data: dataOf(texts) };
      const written =
        mark === undefined
          ? await createObject(target, { ...object, metadata })
          : await updateObject(target, {
              ...object,
              metadata: { ...metadata, resourceVersion: mark },
            });
      const nowhere = written.kind === 'missing' && mark === undefined;
      if (written.kind === 'refused' || nowhere)
        throw new Error(`${place} cannot be written: ${written.message}`);
      return written.kind === 'written';
    },
  };
}

function dataOf(texts: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(texts);
  return Object.fromEntries(
    entries.map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
  );
}

function textsOf({ data }: KubernetesObject): Record<string, string> {
  const entries = Object.entries((data ?? {}) as Readonly<Record<string, string>>);
  return Object.fromEntries(
    entries.map(([key, text]) => [key, Buffer.from(text, 'base64').toString('utf8')]),
  );
}
