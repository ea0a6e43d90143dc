import type { Cluster } from '#kubernetes/cluster.ts';
import type { KubernetesObject } from '#kubernetes/kubernetes-object.ts';
import type { Resource } from '#kubernetes/resource.ts';
import { createObject, getObject, updateObject } from '#kubernetes/write.ts';

/** A Secret of the process's own namespace, which this process writes. */
export type KeptSecret = {
  readonly place: string;
  /**
   * Reads its texts, and the version for the next write. Rejects when the API is away.
   * @returns undefined when there is no such Secret
   */
  read(): Promise<
    { readonly texts: Readonly<Record<string, string>>; readonly mark: string } | undefined
  >;
  /**
   * Replaces its texts when it still has that version, or creates it. Rejects when the API is away
   * or refuses.
   * @returns false when another process was faster
   */
  write(texts: Readonly<Record<string, string>>, mark: string | undefined): Promise<boolean>;
};

const LABELS = { 'app.kubernetes.io/managed-by': 'gateway' };

/** `type` is such as `kubernetes.io/tls`. It never changes. */
export function keptSecret(cluster: Cluster, name: string, type: string): KeptSecret {
  const resource: Resource = {
    group: '',
    version: 'v1',
    plural: 'secrets',
    namespace: cluster.namespace,
  };
  const target = { cluster, resource };
  const place = `Secret ${cluster.namespace}/${name}`;
  return {
    place,
    async read() {
      const object = await getObject(target, name);
      return object && { texts: textsOf(object), mark: object.metadata.resourceVersion ?? '' };
    },
    async write(texts, mark) {
      const metadata = { name, namespace: cluster.namespace, labels: LABELS };
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
