import type { After } from '#kubernetes/after.ts';
import type { Cluster } from '#kubernetes/cluster.ts';
import type { ClusterError } from '#kubernetes/cluster-error.ts';
import { type Following, follow } from '#kubernetes/follow.ts';
import type { Instances } from '../instance.ts';
import type { InstanceSource } from '../instance-source.ts';
import { readEndpointSlice, type Slice } from './endpoint-slice.ts';
import { SliceIndex } from './slice-index.ts';

export type KubernetesSourceOptions = {
  readonly cluster: Cluster;
  /** Those whose services are followed; undefined: all of the cluster, by one watch. */
  readonly namespaces: readonly string[] | undefined;
  readonly reports: KubernetesReports;
  readonly after: After;
  random(): number;
};

/** What is told of the watch of a namespace; `*` stands for all. */
export type KubernetesReports = {
  onWatching(namespace: string): void;
  onListed(namespace: string): void;
  /** So many slices have changed; there are `slices` now. */
  onChanged(namespace: string, changed: number, slices: number): void;
  onTrouble(namespace: string, error: ClusterError, repeated: boolean): void;
  /** Nothing of this slice (`namespace/name`) can be used. */
  onUnusable(slice: string, reason: string): void;
};

const RESOURCE = { group: 'discovery.k8s.io', version: 'v1', plural: 'endpointslices' };

const ALL_NAMESPACES = '*';

/**
 * The instances that the orchestrator knows: EndpointSlices of some namespaces, by list and watch. A service is called `service.namespace`, and in our
 * own namespace also `service`; `:port` after it, name or number, picks one of several ports (serviceInstances). The first answer waits for
 * a whole list of each namespace; after that each namespace goes on by itself, and one that cannot be followed keeps what it had.
 */
export function kubernetesSource(options: KubernetesSourceOptions): InstanceSource {
  return { watch: onChange => watchSlices(options, onChange) };
}

function watchSlices(options: KubernetesSourceOptions, onChange: (instances: Instances) => void): () => void {
  const { cluster, namespaces } = options;
  const index = new SliceIndex(cluster.namespace);
  const waiting = new Set(namespaces ?? [ALL_NAMESPACES]);
  const ends = [...waiting].map(namespace =>
    followNamespace(options, namespace, changes => {
      index.update(changes);
      waiting.delete(namespace);
      if (waiting.size === 0) onChange(index.instances);
    }),
  );
  return () => {
    for (const end of ends) end.close();
  };
}

function followNamespace(
  { cluster, after, random, reports }: KubernetesSourceOptions,
  namespace: string,
  onSlices: (changes: Iterable<readonly [string, Slice | undefined]>) => void,
): Following {
  return follow<Slice | undefined>({
    cluster,
    resource: { ...RESOURCE, namespace: namespace === ALL_NAMESPACES ? undefined : namespace },
    read: readEndpointSlice,
    onChange(slices, changed) {
      reports.onChanged(namespace, changed.size, slices.size);
      for (const key of changed) {
        const reason = slices.get(key)?.problem;
        if (reason !== undefined) reports.onUnusable(key, reason);
      }
      onSlices([...changed].map(key => [key, slices.get(key)]));
    },
    onWatching: () => reports.onWatching(namespace),
    onListed: () => reports.onListed(namespace),
    onTrouble: (error, repeated) => reports.onTrouble(namespace, error, repeated),
    after,
    random,
  });
}
