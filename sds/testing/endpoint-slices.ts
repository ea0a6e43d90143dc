import type { Cluster } from '#kubernetes/cluster.ts';
import { applyObject, deleteObject } from '#kubernetes/write.ts';

export type Endpoint = { readonly address: string; readonly state?: 'ready' | 'ending' };

export const READ_SLICES = [
  { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
];

export const READ_SERVICES = [
  { apiGroups: [''], resources: ['services'], verbs: ['list', 'watch'] },
];

/** Writes EndpointSlices of one service as the orchestrator's controller does. */
export function sliceWriter(
  cluster: Cluster,
  service: string,
  port: number,
  namespace = 'default',
) {
  const resource = {
    group: 'discovery.k8s.io',
    version: 'v1',
    plural: 'endpointslices',
    namespace,
  };
  const target = { cluster, resource };
  return {
    async write(name: string, endpoints: readonly Endpoint[]): Promise<void> {
      const object = {
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: { name, labels: { 'kubernetes.io/service-name': service } },
        addressType: 'IPv4',
        ports: [{ name: 'http', port, protocol: 'TCP' }],
        endpoints: endpoints.map(({ address, state = 'ready' }) => ({
          addresses: [address],
          conditions: { ready: state === 'ready', serving: true, terminating: state === 'ending' },
        })),
      };
      const written = await applyObject(target, object, { fieldManager: 'test', force: true });
      if (written.kind !== 'written')
        throw new Error(`the slice ${name} was not written: ${written.message}`);
    },
    async remove(name: string): Promise<void> {
      await deleteObject(target, name);
    },
  };
}
