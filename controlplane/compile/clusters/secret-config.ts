import type { JsonObject } from '#protos/json.ts';
import { BUILT_IN, edsConfig } from './eds-config.ts';

/**
 * Returns Envoy's `SdsSecretConfig` for the secret of this name, from the built-in discovery
 * service. The source has the same bytes everywhere, since Envoy keeps a subscription for each
 * different source.
 */
export function secretConfig(name: string): JsonObject {
  return { name, sds_config: edsConfig(BUILT_IN) };
}
