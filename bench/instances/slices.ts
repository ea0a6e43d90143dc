import type { Cluster } from '#kubernetes/cluster.ts';
import { createObject, patchObject } from '#kubernetes/write.ts';

const RESOURCE = {
  group: 'discovery.k8s.io',
  version: 'v1',
  plural: 'endpointslices',
  namespace: 'default',
};

/** The most concurrent writes while the cluster is filled. */
const WRITERS = 20;

/** Creates a slice for each service, with so many endpoints. */
export async function fillCluster(
  cluster: Cluster,
  services: readonly string[],
  each: number,
): Promise<void> {
  const left = [...services.entries()];
  const write = async () => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      const [index, service] = next;
      await createSlice(cluster, service, 8080, addressesOf(index, each));
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
}

export async function createSlice(
  cluster: Cluster,
  service: string,
  port: number,
  addresses: readonly string[],
): Promise<void> {
  const written = await createObject(
    { cluster, resource: RESOURCE },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: service, labels: { 'kubernetes.io/service-name': service } },
      addressType: 'IPv4',
      ports: [{ name: 'http', port, protocol: 'TCP' }],
      endpoints: addresses.map(toEndpoint),
    },
  );
  if (written.kind !== 'written') throw new Error(`${service}: ${written.message}`);
}

/** Changes fields of a service's slice. */
export async function changeSlice(
  cluster: Cluster,
  service: string,
  fields: object,
): Promise<void> {
  const written = await patchObject({ cluster, resource: RESOURCE }, service, fields);
  if (written.kind !== 'written') throw new Error(`${service}: ${written.message}`);
}

/** Returns an endpoint as the orchestrator's controller writes it. */
export function toEndpoint(address: string) {
  const name = `pod-${address.replaceAll('.', '-')}`;
  return {
    addresses: [address],
    conditions: { ready: true, serving: true, terminating: false },
    nodeName: 'node-1',
    zone: 'zone-1',
    targetRef: { kind: 'Pod', namespace: 'default', name, uid: `uid-${name}` },
  };
}

/**
 * Returns the addresses of service number `index`. Another `generation` has another last address.
 */
export function addressesOf(index: number, each: number, generation = 0): readonly string[] {
  return Array.from({ length: each }, (_, at) => {
    const last = at === each - 1 ? 100 + (generation % 100) : at + 1;
    return `10.${1 + Math.floor(index / 250)}.${index % 250}.${last}`;
  });
}
