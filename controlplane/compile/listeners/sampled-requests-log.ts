import type { JsonObject } from '#protos/json.ts';
import { CONTROL_PLANE_CLUSTER } from '../clusters/reserved-clusters.ts';
import { extension } from '../extension.ts';

/** Of this many requests that did not fail, one is logged. */
export const SAMPLED_ONE_OF = 10;

/** Envoy's flags of requests that a service failed, or that reached none. Each is logged. */
export const FAILURE_FLAGS: readonly string[] = [
  ...['UH', 'UT', 'LR', 'UR', 'UF', 'UC', 'UO', 'URX', 'SI', 'DT', 'UPE', 'NC', 'OM', 'DF'],
];

/**
 * Returns the log that tells the control plane of sampled requests, and of each that failed. Envoy
 * drops lines rather than to keep more than a few when the control plane does not read. The edge and
 * the proxy behind it choose the same requests, by the request id.
 */
export function sampledRequestsLog(): JsonObject {
  return {
    name: 'envoy.access_loggers.http_grpc',
    filter: { or_filter: { filters: [FAILED, FLAGGED, SAMPLED] } },
    typed_config: extension('access_loggers.grpc.v3.HttpGrpcAccessLogConfig', {
      common_config: {
        log_name: 'figures',
        transport_api_version: 'V3',
        grpc_service: { envoy_grpc: { cluster_name: CONTROL_PLANE_CLUSTER } },
        buffer_flush_interval: '1s',
        buffer_size_bytes: 16_384,
      },
    }),
  };
}

const FAILED: JsonObject = {
  status_code_filter: {
    comparison: {
      op: 'GE',
      value: { default_value: 500, runtime_key: 'figures.least_failed_status' },
    },
  },
};

/** A call by gRPC fails with status 200. */
const FLAGGED: JsonObject = { response_flag_filter: { flags: [...FAILURE_FLAGS] } };

const SAMPLED: JsonObject = {
  runtime_filter: {
    runtime_key: 'figures.sampled',
    percent_sampled: { numerator: 100 / SAMPLED_ONE_OF },
  },
};
