import { DEFAULT_CONTROLLER } from '#controlplane/gateway-api/gateway-options.ts';
import type { Cluster } from '#kubernetes/cluster.ts';
import type { KubernetesObject } from '#kubernetes/kubernetes-object.ts';
import { createObject } from '#kubernetes/write.ts';
import { GATEWAY_API_GROUP } from '#resources/kinds/known-kinds.ts';

export const NAMESPACE = 'default';
const SERVICE = 'echo';
const CLASS = 'gateway';
/** Routes share hostnames, as in Envoy Gateway's benchmark. */
const HOSTNAMES = 5;
/** The most concurrent writes. */
const WRITERS = 20;

export const GATEWAYS = collection(GATEWAY_API_GROUP, 'gateways');
export const HTTP_ROUTES = collection(GATEWAY_API_GROUP, 'httproutes');

function collection(group: string, plural: string, version = 'v1') {
  return { group, version, plural, namespace: NAMESPACE };
}

type Port = { readonly address: string; readonly port: number };

/** Creates the class, whose Gateways get Services with addresses inside the cluster. */
export async function createClass(cluster: Cluster): Promise<void> {
  const group = 'gateway.internal';
  const service = { type: 'ClusterIP' };
  await create(cluster, collection(group, 'proxyconfigs', 'v2'), {
    apiVersion: `${group}/v2`,
    kind: 'ProxyConfig',
    metadata: { name: 'gateways' },
    spec: { node_group: 'gateways', deployment: { service } },
  });
  const resource = { group: GATEWAY_API_GROUP, version: 'v1', plural: 'gatewayclasses' };
  const parametersRef = { group, kind: 'ProxyConfig', name: 'gateways', namespace: NAMESPACE };
  await create(cluster, resource, {
    apiVersion: `${GATEWAY_API_GROUP}/v1`,
    kind: 'GatewayClass',
    metadata: { name: CLASS },
    spec: { controllerName: DEFAULT_CONTROLLER, parametersRef },
  });
}

/** Creates the Service of all routes, and its one endpoint. */
export async function createBackend(cluster: Cluster, { address, port }: Port): Promise<void> {
  const ports = [{ name: 'http', port: 8080, protocol: 'TCP' }];
  await create(cluster, collection('', 'services'), {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: SERVICE },
    spec: { clusterIP: 'None', ports },
  });
  await create(cluster, collection('discovery.k8s.io', 'endpointslices'), {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: SERVICE, labels: { 'kubernetes.io/service-name': SERVICE } },
    addressType: 'IPv4',
    ports: [{ name: 'http', port, protocol: 'TCP' }],
    endpoints: [{ addresses: [address], conditions: { ready: true } }],
  });
}

export function gateway(name: string, port: number): KubernetesObject {
  return {
    apiVersion: `${GATEWAY_API_GROUP}/v1`,
    kind: 'Gateway',
    metadata: { name },
    spec: { gatewayClassName: CLASS, listeners: [{ name: 'http', port, protocol: 'HTTP' }] },
  };
}

/** One of the routes of a Gateway. */
export type Route = { readonly gateway: string; readonly index: number };

export function httpRoute(route: Route): KubernetesObject {
  const { gateway: name, index } = route;
  const path = { type: 'PathPrefix', value: pathOf(route) };
  const backendRefs = [{ name: SERVICE, port: 8080 }];
  return {
    apiVersion: `${GATEWAY_API_GROUP}/v1`,
    kind: 'HTTPRoute',
    metadata: { name: `${name}-${index}` },
    spec: {
      parentRefs: [{ name }],
      hostnames: [hostOf(route)],
      rules: [{ matches: [{ path }], backendRefs }],
    },
  };
}

export function hostOf({ index }: Route): string {
  return `www.benchmark-${index % HOSTNAMES}.com`;
}

export function pathOf({ index }: Route): string {
  return `/route-${index}`;
}

/** Creates all of these, several at a time. */
export async function createAll(
  cluster: Cluster,
  resource: typeof GATEWAYS,
  objects: readonly KubernetesObject[],
): Promise<void> {
  const left = objects.values();
  const write = async () => {
    for (const object of left) await create(cluster, resource, object);
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
}

async function create(
  cluster: Cluster,
  resource: Omit<typeof GATEWAYS, 'namespace'>,
  object: KubernetesObject,
): Promise<void> {
  const written = await createObject({ cluster, resource }, object);
  if (written.kind !== 'written') throw new Error(`${object.metadata.name}: ${written.message}`);
}
