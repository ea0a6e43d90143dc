import type { JsonObject } from '#protos/json.ts';
import type { LogServiceSpec } from '#resources/kinds/log-service/log-service-spec.ts';
import { isPathHeader } from '#resources/words/told-header.ts';
import { LOG_CLUSTER } from '../clusters/reserved-clusters.ts';
import { toDuration } from '../duration.ts';
import { extension } from '../extension.ts';
import { toldText } from './told-text.ts';

/** Returns whether its entries have the fields of a format. Envoy chooses those of the others. */
export function hasFields({ driver }: LogServiceSpec): boolean {
  return driver === 'opentelemetry';
}

/** Returns the access log of a group's proxies that goes to the operator's LogService. */
export function logServiceLog(
  group: string,
  spec: LogServiceSpec,
  format: Readonly<Record<string, string>>,
): JsonObject {
  switch (spec.driver) {
    case 'http':
      return {
        name: 'envoy.access_loggers.http_grpc',
        typed_config: extension('access_loggers.grpc.v3.HttpGrpcAccessLogConfig', {
          common_config: commonConfig(group, spec),
          ...headersToLog(spec),
        }),
      };
    case 'tcp':
      return {
        name: 'envoy.access_loggers.tcp_grpc',
        typed_config: extension('access_loggers.grpc.v3.TcpGrpcAccessLogConfig', {
          common_config: commonConfig(group, spec),
        }),
      };
    case 'opentelemetry':
      return {
        name: 'envoy.access_loggers.open_telemetry',
        typed_config: extension('access_loggers.open_telemetry.v3.OpenTelemetryAccessLogConfig', {
          ...sending(group, spec),
          resource_attributes: attributes({ 'service.name': group }),
          attributes: attributes({ ...format, ...USER_AGENT, ...headerOperators(spec) }),
        }),
      };
  }
}

/** In JSON Envoy escapes what is not UTF-8, and here it does not. */
const USER_AGENT = { user_agent: toldText('request.headers', 'user-agent', { most: 500 }) };

function commonConfig(group: string, spec: LogServiceSpec): JsonObject {
  return { transport_api_version: 'V3', ...sending(group, spec) };
}

function sending(
  group: string,
  { flush_interval_byte_size, flush_interval_time }: LogServiceSpec,
): JsonObject {
  return {
    log_name: group,
    grpc_service: { envoy_grpc: { cluster_name: LOG_CLUSTER } },
    buffer_flush_interval: toDuration(flush_interval_time * 1_000),
    buffer_size_bytes: flush_interval_byte_size,
  };
}

function headersToLog({ driver_config }: LogServiceSpec): JsonObject {
  const names = (when: 'during_request' | 'during_response' | 'during_trailer') =>
    driver_config.additional_log_headers
      .filter(header => header[when])
      .map(({ header_name }) => header_name);
  return {
    additional_request_headers_to_log: names('during_request'),
    additional_response_headers_to_log: names('during_response'),
    additional_response_trailers_to_log: names('during_trailer'),
  };
}

/** The names are those of OpenTelemetry's conventions. */
function headerOperators({ driver_config }: LogServiceSpec): Readonly<Record<string, string>> {
  const entries = driver_config.additional_log_headers.flatMap(header => {
    const { during_request, during_response, during_trailer, header_name: name } = header;
    const request = isPathHeader(name) ? '%PATH(NQ)%' : toldText('request.headers', name);
    const isOfRequest = name.startsWith(':');
    return [
      ...(during_request ? [[`http.request.header.${name}`, request] as const] : []),
      ...(during_response && !isOfRequest
        ? [[`http.response.header.${name}`, toldText('response.headers', name)] as const]
        : []),
      ...(during_trailer && !isOfRequest
        ? [[`http.response.trailer.${name}`, toldText('response.trailers', name)] as const]
        : []),
    ];
  });
  return Object.fromEntries(entries);
}

function attributes(values: Readonly<Record<string, string>>): JsonObject {
  return {
    values: Object.entries(values).map(([key, text]) => ({ key, value: { string_value: text } })),
  };
}
