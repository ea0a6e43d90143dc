import { isGatewayApiKind, type Kind } from '#resources/kinds/known-kinds.ts';
import { type ModuleConfig, module } from '#resources/kinds/module/module.ts';
import type { Rejected, Resource } from './resource.ts';

/**
 * The resources in force, by kind and ordered by id, and the closed ones. Those are rejected and
 * have no last good version.
 */
export type ResourceSet = {
  readonly filters: readonly Resource<'Filter'>[];
  readonly filterPolicies: readonly Resource<'FilterPolicy'>[];
  readonly hosts: readonly Resource<'Host'>[];
  readonly listeners: readonly Resource<'Listener'>[];
  readonly logServices: readonly Resource<'LogService'>[];
  readonly mappings: readonly Resource<'Mapping'>[];
  readonly modules: readonly Resource<'Module'>[];
  /** The settings of the whole gateway: those of the first Module by id, or the defaults. */
  readonly config: ModuleConfig;
  readonly proxyConfigs: readonly Resource<'ProxyConfig'>[];
  readonly rateLimits: readonly Resource<'RateLimit'>[];
  readonly rateLimitServices: readonly Resource<'RateLimitService'>[];
  readonly secrets: readonly Resource<'Secret'>[];
  readonly tlsContexts: readonly Resource<'TLSContext'>[];
  readonly tracingServices: readonly Resource<'TracingService'>[];
  readonly backendTlsPolicies: readonly Resource<'BackendTLSPolicy'>[];
  readonly clusterTrustBundles: readonly Resource<'ClusterTrustBundle'>[];
  readonly configMaps: readonly Resource<'ConfigMap'>[];
  readonly gatewayClasses: readonly Resource<'GatewayClass'>[];
  readonly gateways: readonly Resource<'Gateway'>[];
  readonly grpcRoutes: readonly Resource<'GRPCRoute'>[];
  readonly httpRoutes: readonly Resource<'HTTPRoute'>[];
  readonly listenerSets: readonly Resource<'ListenerSet'>[];
  readonly namespaces: readonly Resource<'Namespace'>[];
  readonly referenceGrants: readonly Resource<'ReferenceGrant'>[];
  readonly services: readonly Resource<'Service'>[];
  readonly tcpRoutes: readonly Resource<'TCPRoute'>[];
  readonly tlsRoutes: readonly Resource<'TLSRoute'>[];
  readonly udpRoutes: readonly Resource<'UDPRoute'>[];
  /** Whether `services` are all that exist, as of a cluster. Otherwise any Service may exist. */
  readonly knowsServices: boolean;
  readonly closed: readonly Rejected[];
};

/** Sorts resources into a set. The order of the input has no effect on the result. */
export function toResourceSet(
  resources: Iterable<Resource>,
  closed: Iterable<Rejected>,
): ResourceSet {
  const sorted = [...resources].sort(byId);
  const modules = ofKind(sorted, 'Module');
  return {
    filters: ofKind(sorted, 'Filter'),
    filterPolicies: ofKind(sorted, 'FilterPolicy'),
    hosts: ofKind(sorted, 'Host'),
    listeners: ofKind(sorted, 'Listener'),
    logServices: ofKind(sorted, 'LogService'),
    mappings: ofKind(sorted, 'Mapping'),
    modules,
    config: modules[0]?.spec.config ?? module.schema.parse({}).config,
    proxyConfigs: ofKind(sorted, 'ProxyConfig'),
    rateLimits: ofKind(sorted, 'RateLimit'),
    rateLimitServices: ofKind(sorted, 'RateLimitService'),
    secrets: ofKind(sorted, 'Secret'),
    tlsContexts: ofKind(sorted, 'TLSContext'),
    tracingServices: ofKind(sorted, 'TracingService'),
    backendTlsPolicies: ofKind(sorted, 'BackendTLSPolicy'),
    clusterTrustBundles: ofKind(sorted, 'ClusterTrustBundle'),
    configMaps: ofKind(sorted, 'ConfigMap'),
    gatewayClasses: ofKind(sorted, 'GatewayClass'),
    gateways: ofKind(sorted, 'Gateway'),
    grpcRoutes: ofKind(sorted, 'GRPCRoute'),
    httpRoutes: ofKind(sorted, 'HTTPRoute'),
    listenerSets: ofKind(sorted, 'ListenerSet'),
    namespaces: ofKind(sorted, 'Namespace'),
    referenceGrants: ofKind(sorted, 'ReferenceGrant'),
    services: ofKind(sorted, 'Service'),
    tcpRoutes: ofKind(sorted, 'TCPRoute'),
    tlsRoutes: ofKind(sorted, 'TLSRoute'),
    udpRoutes: ofKind(sorted, 'UDPRoute'),
    knowsServices: sorted.some(isInCluster),
    closed: [...closed].sort(byId),
  };
}

/** An object of Gateway API that is in no file comes from a cluster, as all Services then do. */
function isInCluster({ kind, source }: Resource): boolean {
  return source.line === 0 && isGatewayApiKind(kind);
}

function ofKind<K extends Kind>(resources: readonly Resource[], kind: K): Resource<K>[] {
  return resources.filter((resource): resource is Resource<K> => resource.kind === kind);
}

function byId(a: { readonly id: string }, b: { readonly id: string }): number {
  return a.id < b.id ? -1 : Number(a.id > b.id);
}
