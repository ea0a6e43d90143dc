import type { JsonObject } from '#protos/json.ts';

/** In this time, an Envoy pushes its statistics once. */
const FLUSH = '5s';

/**
 * Statistics in one message. A message has about 100 KB then, and the control plane reads others
 * between two of them.
 */
const BATCH = 1_000;

/** Returns the part of a bootstrap that pushes statistics to the control plane. */
export function pushFigures(cluster: string): JsonObject {
  return {
    stats_flush_interval: FLUSH,
    stats_sinks: [
      {
        name: 'envoy.stat_sinks.metrics_service',
        typed_config: {
          '@type': 'type.googleapis.com/envoy.config.metrics.v3.MetricsServiceConfig',
          transport_api_version: 'V3',
          grpc_service: { envoy_grpc: { cluster_name: cluster } },
          report_counters_as_deltas: true,
          histogram_emit_mode: 'HISTOGRAM',
          batch_size: BATCH,
        },
      },
    ],
  };
}

/**
 * Returns the layer of the runtime that says which share of the requests is logged. An Envoy whose
 * control plane is away starts without it.
 */
export function samplingLayer(cluster: string): JsonObject {
  return {
    name: 'figures',
    rtds_layer: {
      name: 'figures',
      rtds_config: {
        api_config_source: {
          api_type: 'DELTA_GRPC',
          transport_api_version: 'V3',
          set_node_on_first_message_only: true,
          grpc_services: [{ envoy_grpc: { cluster_name: cluster } }],
        },
        resource_api_version: 'V3',
        initial_fetch_timeout: '1s',
      },
    },
  };
}
