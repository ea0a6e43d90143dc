/**
 * Type URLs of the resources of the discovery protocol. Source: Envoy's "xDS REST and gRPC
 * protocol", resource types.
 */
const PREFIX = 'type.googleapis.com/';

export const LISTENER = `${PREFIX}envoy.config.listener.v3.Listener`;
export const ROUTE_CONFIGURATION = `${PREFIX}envoy.config.route.v3.RouteConfiguration`;
export const CLUSTER = `${PREFIX}envoy.config.cluster.v3.Cluster`;
export const CLUSTER_LOAD_ASSIGNMENT = `${PREFIX}envoy.config.endpoint.v3.ClusterLoadAssignment`;
export const SECRET = `${PREFIX}envoy.extensions.transport_sockets.tls.v3.Secret`;

/** Of our own: what the decision services receive. */
export const FILTER = `${PREFIX}gateway.config.v1.Filter`;
export const FILTER_POLICY = `${PREFIX}gateway.config.v1.FilterPolicy`;
export const RATE_LIMIT = `${PREFIX}gateway.config.v1.RateLimit`;

/** Of our own: what the discovery service of secrets is to serve, and to whom. */
export const SERVED_SECRET = `${PREFIX}gateway.config.v1.ServedSecret`;

/** Of our own: what a service finds wrong with what it was sent. It goes the other way. */
export const REPORT = `${PREFIX}gateway.config.v1.Report`;

/** Every type that we serve or hear of: a peer may name others. */
export const KNOWN_TYPES: ReadonlySet<string> = new Set([
  LISTENER,
  ROUTE_CONFIGURATION,
  CLUSTER,
  CLUSTER_LOAD_ASSIGNMENT,
  SECRET,
  FILTER,
  FILTER_POLICY,
  RATE_LIMIT,
  SERVED_SECRET,
  REPORT,
]);

/** The full message name of a type URL; undefined when it is none of the form that we write. */
export function nameInTypeUrl(typeUrl: string): string | undefined {
  return typeUrl.startsWith(PREFIX) ? typeUrl.slice(PREFIX.length) : undefined;
}

/** The full message name of a type URL: what follows its last slash. */
export function messageName(typeUrl: string): string {
  return typeUrl.slice(typeUrl.lastIndexOf('/') + 1);
}
