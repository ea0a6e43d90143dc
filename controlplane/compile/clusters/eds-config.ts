import type { JsonObject } from '#protos/json.ts';
import { toDuration } from '../duration.ts';

/** The cluster of the bootstrap that leads to the discovery service, and the way of asking it. */
export type Discovery = { readonly cluster: string; readonly refreshDelayMs?: number };

/** The built-in discovery service, over a gRPC stream. */
export const BUILT_IN: Discovery = { cluster: 'sds' };

/**
 * Returns Envoy's `ConfigSource` for endpoints: polled by REST, or pushed by a delta gRPC stream. A
 * cluster that waits for its first endpoints holds back all later ones, so the wait is short.
 */
export function edsConfig({ cluster, refreshDelayMs }: Discovery): JsonObject {
  const transport = refreshDelayMs === undefined ? grpc(cluster) : rest(cluster, refreshDelayMs);
  return {
    resource_api_version: 'V3',
    initial_fetch_timeout: '1s',
    api_config_source: { transport_api_version: 'V3', ...transport },
  };
}

function grpc(cluster: string): JsonObject {
  const retry_policy = { retry_back_off: { base_interval: '0.1s', max_interval: '0.5s' } };
  return {
    api_type: 'DELTA_GRPC',
    set_node_on_first_message_only: true,
    grpc_services: [{ envoy_grpc: { cluster_name: cluster, retry_policy } }],
  };
}

function rest(cluster: string, refreshDelayMs: number): JsonObject {
  return {
    api_type: 'REST',
    cluster_names: [cluster],
    refresh_delay: toDuration(refreshDelayMs),
    request_timeout: '1s',
  };
}
