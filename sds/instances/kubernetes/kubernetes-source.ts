import type { Cluster } from '#kubernetes/cluster.ts';
import type { ClusterError } from '#kubernetes/cluster-error.ts';
import { type Following, follow } from '#kubernetes/follow.ts';
import type { Resource } from '#kubernetes/resource.ts';
import type { After } from '#process/after.ts';
import type { Instances } from '../instance.ts';
import type { InstanceSource } from '../instance-source.ts';
import { readEndpointSlice, type Slice } from './endpoint-slice.ts';
import { readServicePorts, type ServicePort } from './service-ports.ts';
import { SliceIndex } from './slice-index.ts';

export type KubernetesSourceOptions = {
  readonly cluster: Cluster;
  /**
   * The namespaces whose services are followed. Undefined means all of the cluster, by one watch.
   */
  readonly namespaces: readonly string[] | undefined;
  readonly reports: KubernetesReports;
  readonly after: After;
  random(): number;
};

/** Events of the watch of a namespace. `*` stands for all namespaces. */
export type KubernetesReports = {
  onWatching(namespace: string): void;
  onListed(namespace: string): void;
  /** This number of slices has changed. There are `slices` now. */
  onChanged(namespace: string, changed: number, slices: number): void;
  onTrouble(namespace: string, error: ClusterError, repeated: boolean): void;
  /** No part of this slice (`namespace/name`) can be used. */
  onUnusable(slice: string, reason: string): void;
  /**
   * The port numbers of Services are known from now on. With `error` they are not followed for now.
   */
  onPorts(namespace: string, error: ClusterError | undefined): void;
};

const SLICES = { group: 'discovery.k8s.io', version: 'v1', plural: 'endpointslices' };
const SERVICES = { group: '', version: 'v1', plural: 'services' };

const FORBIDDEN = 403;

const ALL_NAMESPACES = '*';

/**
 * Follows the instances that the orchestrator knows: EndpointSlices of some namespaces, by list and
 * watch.
 * A service is called `service.namespace`. In the process's own namespace it is also called
 * `service`. `:port` after it, a name or a number, picks one of several ports (serviceInstances).
 * The first answer waits for a complete list of each namespace. After that each namespace goes on
 * by itself. A namespace that cannot be followed keeps what it had. Services are followed only for
 * the numbers of their ports. A process that may not read them runs without.
 */
export function kubernetesSource(options: KubernetesSourceOptions): InstanceSource {
  return { watch: onChange => watchSlices(options, onChange) };
}

function watchSlices(
  options: KubernetesSourceOptions,
  onChange: (instances: Instances) => void,
): () => void {
  const { cluster, namespaces = [ALL_NAMESPACES] } = options;
  const index = new SliceIndex(cluster.namespace);
  const waiting = new Set(
    namespaces.flatMap(namespace => [`slices ${namespace}`, `ports ${namespace}`]),
  );
  let published: Instances | undefined;
  const known = (what: string) => {
    waiting.delete(what);
    if (waiting.size > 0 || published === index.instances) return;
    published = index.instances;
    onChange(published);
  };
  const ends = namespaces.flatMap(namespace => [
    followSlices(options, namespace, changes => {
      index.update(changes);
      known(`slices ${namespace}`);
    }),
    followPorts(options, namespace, changes => {
      index.updatePorts(changes);
      known(`ports ${namespace}`);
    }),
  ]);
  return () => {
    for (const end of ends) end.close();
  };
}

type Changes<T> = Iterable<readonly [key: string, value: T | undefined]>;

function followSlices(
  { cluster, after, random, reports }: KubernetesSourceOptions,
  namespace: string,
  onSlices: (changes: Changes<Slice>) => void,
): Following {
  return follow<Slice | undefined>({
    cluster,
    resource: inNamespace(SLICES, namespace),
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

function followPorts(
  { cluster, after, random, reports }: KubernetesSourceOptions,
  namespace: string,
  onPorts: (changes: Changes<readonly ServicePort[]>) => void,
): Following {
  return follow<readonly ServicePort[]>({
    cluster,
    resource: inNamespace(SERVICES, namespace),
    read: readServicePorts,
    onChange: (services, changed) => onPorts([...changed].map(key => [key, services.get(key)])),
    onWatching: () => reports.onPorts(namespace, undefined),
    onTrouble(error) {
      reports.onPorts(namespace, error);
      if (error.status === FORBIDDEN) onPorts([]);
    },
    after,
    random,
  });
}

function inNamespace(resource: Resource, namespace: string): Resource {
  return { ...resource, namespace: namespace === ALL_NAMESPACES ? undefined : namespace };
}
