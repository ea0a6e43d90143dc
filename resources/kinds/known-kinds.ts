/** Every kind that is served. */
export const KIND_NAMES = [
  'BackendTLSPolicy',
  'ClusterTrustBundle',
  'ConfigMap',
  'Filter',
  'FilterPolicy',
  'GRPCRoute',
  'Gateway',
  'GatewayClass',
  'HTTPRoute',
  'Host',
  'Listener',
  'ListenerSet',
  'LogService',
  'Mapping',
  'Module',
  'Namespace',
  'ProxyConfig',
  'RateLimit',
  'RateLimitService',
  'ReferenceGrant',
  'Secret',
  'Service',
  'TCPRoute',
  'TLSContext',
  'TLSRoute',
  'TracingService',
  'UDPRoute',
] as const;

export type Kind = (typeof KIND_NAMES)[number];

/** The group of Gateway API (https://gateway-api.sigs.k8s.io/). */
export const GATEWAY_API_GROUP = 'gateway.networking.k8s.io';

/** Versions of each kind of Gateway API that are read, the newest first. All are read as `v1`. */
export const GATEWAY_API_VERSIONS = {
  BackendTLSPolicy: ['v1', 'v1alpha3'],
  GRPCRoute: ['v1'],
  Gateway: ['v1', 'v1beta1'],
  GatewayClass: ['v1', 'v1beta1'],
  HTTPRoute: ['v1', 'v1beta1'],
  ListenerSet: ['v1'],
  ReferenceGrant: ['v1', 'v1beta1'],
  TCPRoute: ['v1', 'v1alpha2'],
  TLSRoute: ['v1', 'v1alpha3', 'v1alpha2'],
  UDPRoute: ['v1', 'v1alpha2'],
} as const satisfies Partial<Readonly<Record<Kind, readonly string[]>>>;

export type GatewayApiKind = keyof typeof GATEWAY_API_VERSIONS;

/** The group of ClusterTrustBundles in Kubernetes. */
export const CERTIFICATES_GROUP = 'certificates.k8s.io';

/** Versions of ClusterTrustBundles that are read, the newest first. They have one shape. */
export const TRUST_BUNDLE_VERSIONS = { ClusterTrustBundle: ['v1beta1', 'v1alpha1'] } as const;

/** The `apiVersion`s of each kind of Kubernetes that Gateway API refers to. */
const AMBIENT_KINDS = {
  ClusterTrustBundle: TRUST_BUNDLE_VERSIONS.ClusterTrustBundle.map(
    version => `${CERTIFICATES_GROUP}/${version}`,
  ),
  ConfigMap: ['v1'],
  Namespace: ['v1'],
  Service: ['v1'],
} as const satisfies Partial<Readonly<Record<Kind, readonly string[]>>>;

export type AmbientKind = keyof typeof AMBIENT_KINDS;

export function isGatewayApiKind(kind: string): kind is GatewayApiKind {
  return Object.hasOwn(GATEWAY_API_VERSIONS, kind);
}

export function isAmbientKind(kind: string): kind is AmbientKind {
  return Object.hasOwn(AMBIENT_KINDS, kind);
}

/** The kinds that have a page and a schema. Others are Kubernetes' own. */
export const DOCUMENTED_KINDS: readonly Kind[] = KIND_NAMES.filter(kind => !isAmbientKind(kind));

/** Returns whether a kind of Kubernetes is read in this `apiVersion`. */
export function isAmbientVersion(kind: AmbientKind, apiVersion: unknown): boolean {
  return AMBIENT_KINDS[kind].some(version => version === apiVersion);
}

/**
 * Kinds of which only one resource is in force for each gateway, with the names that it may have.
 * The main name comes first, then accepted aliases. Without names it may have any.
 */
export const SINGLETONS: ReadonlyMap<string, readonly string[]> = new Map<Kind, readonly string[]>([
  ['LogService', []],
  ['Module', ['gateway', 'ambassador']],
  ['RateLimitService', []],
  ['TracingService', []],
]);

/**
 * Kinds of Ambassador's family that a user may bring and that the gateway does not serve. Each says
 * what that means for the site, and what to use instead. Those that restrict are in
 * `restrictions.ts` too.
 */
export const NOT_SERVED: Readonly<Record<string, string>> = {
  AuthService: 'write a Filter and a FilterPolicy in its place',
  ConsulResolver:
    'instances come from the file, DNS or Kubernetes that the discovery service follows',
  DevPortal: 'nothing is in its place',
  KubernetesEndpointResolver: 'none is needed for `resolver: endpoint` of a Mapping',
  KubernetesServiceResolver: 'none is needed: names are asked of DNS by default',
  TCPMapping: 'write a Gateway and a TCPRoute or TLSRoute of Gateway API in its place',
  WebApplicationFirewall: 'put a firewall in front of the gateway',
  WebApplicationFirewallPolicy: 'put a firewall in front of the gateway',
};

export function isKind(kind: string): kind is Kind {
  return (KIND_NAMES as readonly string[]).includes(kind);
}
