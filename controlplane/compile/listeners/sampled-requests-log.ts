import type { JsonObject } from '#protos/json.ts';
import { CONTROL_PLANE_CLUSTER } from '../clusters/reserved-clusters.ts';
import { extension } from '../extension.ts';

/** The layer of Envoy's runtime that has the shares below. */
export const RUNTIME_LAYER = 'figures';
/** The share of the requests that did not fail. */
export const SAMPLED_KEY = 'figures.sampled';
/** The share of the requests that failed. */
export const FAILED_KEY = 'figures.failed';

/** Envoy's flags of requests that a service failed, or that reached none. */
export const FAILURE_FLAGS: readonly string[] = [
  ...['UH', 'UT', 'LR', 'UR', 'UF', 'UC', 'UO', 'URX', 'SI', 'DT', 'UPE', 'NC', 'OM', 'DF'],
];

/** The statuses by which a gRPC service fails. An HTTP status of 500 or more stands for each. */
export const GRPC_FAILURES: readonly string[] = [
  ...['UNKNOWN', 'DEADLINE_EXCEEDED', 'INTERNAL', 'UNAVAILABLE', 'DATA_LOSS'],
];

/** Returns a share as the runtime has it. */
export function millionths(percent: number): number {
  return Math.round(percent * 10_000);
}

/**
 * Returns the log that tells the control plane of sampled requests, and of more of those that
 * failed. Envoy drops lines rather than to keep more than a few when the control plane does not
 * read. The edge and the proxy behind it choose the same requests, by the request id.
 */
export function sampledRequestsLog(): JsonObject {
  return {
    name: 'envoy.access_loggers.http_grpc',
    filter: {
      or_filter: {
        filters: [
          { and_filter: { filters: [FAILED, share(FAILED_KEY, 100)] } },
          share(SAMPLED_KEY, 10),
        ],
      },
    },
    typed_config: extension('access_loggers.grpc.v3.HttpGrpcAccessLogConfig', {
      common_config: {
        log_name: 'figures',
        transport_api_version: 'V3',
        grpc_service: { envoy_grpc: { cluster_name: CONTROL_PLANE_CLUSTER } },
        buffer_flush_interval: '1s',
        buffer_size_bytes: 16_384,
      },
      additional_response_headers_to_log: ['grpc-status'],
      additional_response_trailers_to_log: ['grpc-status'],
    }),
  };
}

/** Requests that got no answer of a service. */
const FLAGGED: JsonObject = { response_flag_filter: { flags: [...FAILURE_FLAGS] } };

const ERROR: JsonObject = {
  status_code_filter: {
    comparison: {
      op: 'GE',
      value: { default_value: 500, runtime_key: 'figures.least_failed_status' },
    },
  },
};

/**
 * gRPC calls that a service failed. Their HTTP status is 200. Envoy takes a call without a
 * `grpc-status`, which its client has cancelled, for one with UNKNOWN. So CEL looks whether it is
 * there, for the few that pass the other filters.
 */
const GRPC_FAILED: JsonObject = {
  and_filter: {
    filters: [
      {
        header_filter: {
          header: {
            name: 'content-type',
            string_match: { safe_regex: { regex: 'application/grpc([+;].*)?' } },
          },
        },
      },
      { grpc_status_filter: { statuses: [...GRPC_FAILURES] } },
      {
        extension_filter: {
          name: 'envoy.access_loggers.extension_filters.cel',
          typed_config: extension('access_loggers.filters.cel.v3.ExpressionFilter', {
            expression: "'grpc-status' in response.trailers || 'grpc-status' in response.headers",
          }),
        },
      },
    ],
  },
};

const FAILED: JsonObject = { or_filter: { filters: [ERROR, FLAGGED, GRPC_FAILED] } };

/** `percent` is for an Envoy without the layer. The value in the layer counts millionths. */
function share(runtime_key: string, percent: number): JsonObject {
  const percent_sampled = { numerator: millionths(percent), denominator: 'MILLION' };
  return { runtime_filter: { runtime_key, percent_sampled } };
}
