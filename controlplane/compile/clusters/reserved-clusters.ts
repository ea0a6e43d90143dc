/** The cluster of every bootstrap that leads to the control plane. */
export const CONTROL_PLANE_CLUSTER = 'controlplane';

/**
 * The cluster of every bootstrap that leads to the discovery service by HTTP/1.1, which answers an
 * ACME authority.
 */
export const CHALLENGE_CLUSTER = 'sds-rest';

/**
 * Names that every bootstrap has. No cluster of the operator can have one: Envoy would ignore it.
 */
export const BOOTSTRAP_CLUSTERS: ReadonlySet<string> = new Set([
  CONTROL_PLANE_CLUSTER,
  'envoy-admin',
  'sds',
  CHALLENGE_CLUSTER,
]);

/** The name of the Filter service's cluster. */
export const EXT_AUTHZ_CLUSTER = 'ext-authz';

/**
 * The name of the rate limit service's cluster, whichever service it is. So the listener stays the
 * same when the address changes.
 */
export const RATE_LIMIT_CLUSTER = 'ratelimit-service';

/** The names of the clusters that get spans and access logs. */
export const TRACING_CLUSTER = 'tracing-service';
export const LOG_CLUSTER = 'log-service';

/** Names of the gateway's own clusters. Clusters of the operator cannot have them. */
export const RESERVED_CLUSTERS: ReadonlySet<string> = new Set([
  ...BOOTSTRAP_CLUSTERS,
  EXT_AUTHZ_CLUSTER,
  RATE_LIMIT_CLUSTER,
  TRACING_CLUSTER,
  LOG_CLUSTER,
]);
