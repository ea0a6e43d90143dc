import type { JsonObject } from '#protos/json.ts';
import { BUILT_IN } from './discovery-cluster.ts';
import { edsConfig } from './eds-config.ts';

/**
 * Envoy's `SdsSecretConfig`: the secret of this name, from the built-in discovery service. The
 * bytes of the source are the same wherever one stands, since Envoy keeps a subscription for each
 * different source.
 */
export function secretConfig(name: string): JsonObject {
  return { name, sds_config: edsConfig(BUILT_IN) };
}
