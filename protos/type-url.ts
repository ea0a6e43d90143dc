/**
 * Type URLs of the resources of the discovery protocol. Source: Envoy's "xDS REST and gRPC
 * protocol", resource types.
 */
const PREFIX = 'type.googleapis.com/';

export const LISTENER = `${PREFIX}envoy.config.listener.v3.Listener`;
export const ROUTE_CONFIGURATION = `${PREFIX}envoy.config.route.v3.RouteConfiguration`;
/** One virtual host of a RouteConfiguration that names them by discovery (VHDS). */
export const VIRTUAL_HOST = `${PREFIX}envoy.config.route.v3.VirtualHost`;
export const CLUSTER = `${PREFIX}envoy.config.cluster.v3.Cluster`;
export const CLUSTER_LOAD_ASSIGNMENT = `${PREFIX}envoy.config.endpoint.v3.ClusterLoadAssignment`;
/** The configuration of one filter, which a listener names (ECDS). */
export const EXTENSION_CONFIG = `${PREFIX}envoy.config.core.v3.TypedExtensionConfig`;
export const RUNTIME = `${PREFIX}envoy.service.runtime.v3.Runtime`;
export const SECRET = `${PREFIX}envoy.extensions.transport_sockets.tls.v3.Secret`;

/** A type of our own, which the decision services receive. */
export const FILTER = `${PREFIX}gateway.config.v1.Filter`;
export const FILTER_POLICY = `${PREFIX}gateway.config.v1.FilterPolicy`;
export const RATE_LIMIT = `${PREFIX}gateway.config.v1.RateLimit`;

/** A type of our own, with what the discovery service of secrets serves, and to which proxies. */
export const SERVED_SECRET = `${PREFIX}gateway.config.v1.ServedSecret`;

/**
 * A type of our own, with what a service finds wrong with its configuration. It goes from the
 * service to the control plane.
 */
export const REPORT = `${PREFIX}gateway.config.v1.Report`;

/** A type of our own, with what an operator asks of a service at once. */
export const ORDER = `${PREFIX}gateway.config.v1.Order`;

/** Every type that we serve or receive. A peer may name others. */
export const KNOWN_TYPES: ReadonlySet<string> = new Set([
  LISTENER,
  ROUTE_CONFIGURATION,
  VIRTUAL_HOST,
  CLUSTER,
  CLUSTER_LOAD_ASSIGNMENT,
  SECRET,
  EXTENSION_CONFIG,
  RUNTIME,
  FILTER,
  FILTER_POLICY,
  RATE_LIMIT,
  SERVED_SECRET,
  REPORT,
  ORDER,
]);

/**
 * Returns the full message name of a type URL.
 * @returns undefined when it is not of the form that we write
 */
export function nameInTypeUrl(typeUrl: string): string | undefined {
  return typeUrl.startsWith(PREFIX) ? typeUrl.slice(PREFIX.length) : undefined;
}

/** Returns the full message name of a type URL, which is what follows its last slash. */
export function messageName(typeUrl: string): string {
  return typeUrl.slice(typeUrl.lastIndexOf('/') + 1);
}
