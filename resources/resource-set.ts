import { isGatewayApiKind, type Kind } from '#resources/kinds/known-kinds.ts';
import { type ModuleConfig, module } from '#resources/kinds/module/module.ts';
import type { Rejected, Resource } from './resource.ts';

/**
 * The resources in force, by kind and ordered by id, and the closed ones. Those are rejected and no
 * last good version stands for them whole.
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
  const kinds = Map.groupBy(sorted, ({ kind }) => kind);
  const modules = ofKind(kinds, 'Module');
  return {
    filters: ofKind(kinds, 'Filter'),
    filterPolicies: ofKind(kinds, 'FilterPolicy'),
    hosts: ofKind(kinds, 'Host'),
    listeners: ofKind(kinds, 'Listener'),
    logServices: ofKind(kinds, 'LogService'),
    mappings: ofKind(kinds, 'Mapping'),
    modules,
    config: modules[0]?.spec.config ?? module.schema.parse({}).config,
    proxyConfigs: ofKind(kinds, 'ProxyConfig'),
    rateLimits: ofKind(kinds, 'RateLimit'),
    rateLimitServices: ofKind(kinds, 'RateLimitService'),
    secrets: ofKind(kinds, 'Secret'),
    tlsContexts: ofKind(kinds, 'TLSContext'),
    tracingServices: ofKind(kinds, 'TracingService'),
    backendTlsPolicies: ofKind(kinds, 'BackendTLSPolicy'),
    clusterTrustBundles: ofKind(kinds, 'ClusterTrustBundle'),
    configMaps: ofKind(kinds, 'ConfigMap'),
    gatewayClasses: ofKind(kinds, 'GatewayClass'),
    gateways: ofKind(kinds, 'Gateway'),
    grpcRoutes: ofKind(kinds, 'GRPCRoute'),
    httpRoutes: ofKind(kinds, 'HTTPRoute'),
    listenerSets: ofKind(kinds, 'ListenerSet'),
    namespaces: ofKind(kinds, 'Namespace'),
    referenceGrants: ofKind(kinds, 'ReferenceGrant'),
    services: ofKind(kinds, 'Service'),
    tcpRoutes: ofKind(kinds, 'TCPRoute'),
    tlsRoutes: ofKind(kinds, 'TLSRoute'),
    udpRoutes: ofKind(kinds, 'UDPRoute'),
    knowsServices: sorted.some(isInCluster),
    closed: [...closed].sort(byId),
  };
}

/** An object of Gateway API that is in no file comes from a cluster, as all Services then do. */
function isInCluster({ kind, source }: Resource): boolean {
  return source.line === 0 && isGatewayApiKind(kind);
}

function ofKind<K extends Kind>(
  kinds: ReadonlyMap<Kind, readonly Resource[]>,
  kind: K,
): readonly Resource<K>[] {
  // They are grouped by this very field.
  return (kinds.get(kind) ?? []) as readonly Resource[] as readonly Resource<K>[];
}

function byId(a: { readonly id: string }, b: { readonly id: string }): number {
  return a.id < b.id ? -1 : Number(a.id > b.id);
}
