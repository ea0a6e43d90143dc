import { BOOTSTRAP_CLUSTERS } from './discovery-cluster.ts';
import { EXT_AUTHZ_CLUSTER } from './ext-authz-cluster.ts';
import { RATE_LIMIT_CLUSTER } from './rate-limit-cluster.ts';

/** Names of clusters of our own, which no cluster of the operator's has. */
export const RESERVED_CLUSTERS: ReadonlySet<string> = new Set([
  ...BOOTSTRAP_CLUSTERS,
  EXT_AUTHZ_CLUSTER,
  RATE_LIMIT_CLUSTER,
]);
