import { BOOTSTRAP_CLUSTERS } from './discovery-cluster.ts';
import { EXT_AUTHZ_CLUSTER } from './ext-authz-cluster.ts';
import { RATE_LIMIT_CLUSTER } from './rate-limit-cluster.ts';

/** Names of the gateway's own clusters. Clusters of the operator cannot have them. */
export const RESERVED_CLUSTERS: ReadonlySet<string> = new Set([
  ...BOOTSTRAP_CLUSTERS,
  EXT_AUTHZ_CLUSTER,
  RATE_LIMIT_CLUSTER,
]);
