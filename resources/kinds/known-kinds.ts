/** Every kind that is served. */
export const KIND_NAMES = [
  'Filter',
  'FilterPolicy',
  'Host',
  'LogService',
  'Mapping',
  'Module',
  'ProxyConfig',
  'RateLimit',
  'RateLimitService',
  'Secret',
  'TLSContext',
  'TracingService',
] as const;

export type Kind = (typeof KIND_NAMES)[number];

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
  Listener: 'EDGE_ADDRESS and EDGE_TLS_ADDRESS of the control plane say where the edge listens',
  TCPMapping: 'connections other than HTTP are not forwarded',
  WebApplicationFirewall: 'put a firewall in front of the gateway',
  WebApplicationFirewallPolicy: 'put a firewall in front of the gateway',
};

export function isKind(kind: string): kind is Kind {
  return (KIND_NAMES as readonly string[]).includes(kind);
}
