import { follow } from '#kubernetes/follow.ts';
import { type KubernetesObject, objectKey } from '#kubernetes/kubernetes-object.ts';
import type { KubeApiserver } from '#kubernetes/testing/kube-apiserver.ts';
import { after } from '#process/after.ts';
import type { Backend } from './forward.ts';

export type ServiceObject = KubernetesObject & {
  readonly spec: {
    readonly type: string;
    readonly clusterIP?: string;
    readonly loadBalancerIP?: string;
    readonly ports?: readonly {
      readonly name?: string;
      readonly port: number;
      readonly protocol: 'TCP' | 'UDP' | 'SCTP';
    }[];
  };
  readonly status?: {
    readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string }[] };
  };
};

type SliceObject = KubernetesObject & {
  readonly endpoints: readonly {
    readonly addresses: readonly string[];
    readonly conditions?: Readonly<Partial<Record<Condition, boolean>>>;
  }[];
  readonly ports: readonly { readonly name?: string; readonly port: number }[];
};

/** An endpoint that ends is not ready, and may still be serving. */
export type Condition = 'ready' | 'serving';

export type FollowedServices = {
  /** All Services, by `namespace/name`. */
  readonly services: ReadonlyMap<string, ServiceObject>;
  /** Returns endpoints of a port of a Service. A port may have no name. */
  endpoints(service: KubernetesObject, port?: string, are?: Condition): readonly Backend[];
  /** Returns the addresses of the ready endpoints of a Service. */
  addresses(service: KubernetesObject): readonly string[];
  close(): void;
};

const SERVICE_NAME = 'kubernetes.io/service-name';

/** Follows the Services of a cluster and their endpoints. Calls `onChange` after each change. */
export function followServices({ admin }: KubeApiserver, onChange: () => void): FollowedServices {
  const services = new Map<string, ServiceObject>();
  const slices = new Map<string, SliceObject>();
  const keep = <T extends KubernetesObject>(
    into: Map<string, T>,
    resource: { readonly group: string; readonly plural: string },
  ) =>
    follow({
      cluster: admin,
      resource: { version: 'v1', ...resource },
      read: object => object as T,
      onChange(objects) {
        into.clear();
        for (const object of objects.values()) into.set(objectKey(object), object);
        onChange();
      },
      after,
      random: Math.random,
    });
  const following = [
    keep(services, { group: '', plural: 'services' }),
    keep(slices, { group: 'discovery.k8s.io', plural: 'endpointslices' }),
  ];
  const endpointsOf = ({ metadata }: KubernetesObject, are: Condition = 'ready') =>
    [...slices.values()]
      .filter(
        slice =>
          slice.metadata.namespace === metadata.namespace &&
          slice.metadata.labels?.[SERVICE_NAME] === metadata.name,
      )
      .map(({ endpoints, ports }) => ({
        ports: ports ?? [],
        addresses: (endpoints ?? [])
          .filter(({ conditions }) => conditions?.[are] !== false)
          .flatMap(({ addresses }) => addresses),
      }));
  return {
    services,
    endpoints: (service, port = '', are) =>
      endpointsOf(service, are).flatMap(({ ports, addresses }) =>
        ports
          .filter(({ name = '' }) => name === port)
          .flatMap(({ port: number }) => addresses.map(address => ({ address, port: number }))),
      ),
    addresses: service => [...new Set(endpointsOf(service).flatMap(({ addresses }) => addresses))],
    close() {
      for (const each of following) each.close();
    },
  };
}
