import { messageType } from '#protos/root.ts';

const METRICS = messageType('envoy.service.metrics.v3.StreamMetricsMessage');
const LOGS = messageType('envoy.service.accesslog.v3.StreamAccessLogsMessage');

export const EDGE_NODE = { id: 'edge-1', cluster: 'edge' };

/** Returns a StreamMetricsMessage as bytes. */
export function metricsMessage(families: readonly object[], node?: object): Buffer {
  const identifier = node === undefined ? {} : { identifier: { node } };
  const message = METRICS.fromObject({ ...identifier, envoy_metrics: families });
  return Buffer.from(METRICS.encode(message).finish());
}

export const counter = (name: string, value: number) => ({
  name,
  type: 'COUNTER',
  metric: [{ counter: { value }, timestamp_ms: 1 }],
});

export const gauge = (name: string, value: number) => ({
  name,
  type: 'GAUGE',
  metric: [{ gauge: { value }, timestamp_ms: 1 }],
});

/** `buckets` are upper bounds with cumulative counts. */
export const histogram = (name: string, count: number, buckets: readonly [number, number][]) => ({
  name,
  type: 'HISTOGRAM',
  metric: [
    {
      histogram: {
        sample_count: count,
        sample_sum: 1,
        bucket: buckets.map(([upper_bound, cumulative_count]) => ({
          upper_bound,
          cumulative_count,
        })),
      },
    },
  ],
});

/** Returns a StreamAccessLogsMessage as bytes. */
export function logMessage(entries: readonly object[], node?: object): Buffer {
  const identifier = node === undefined ? {} : { identifier: { node, log_name: 'figures' } };
  const message = LOGS.fromObject({ ...identifier, http_logs: { log_entry: entries } });
  return Buffer.from(LOGS.encode(message).finish());
}

/** Returns an entry as Envoy writes it. */
export const logEntry = (path: string, status: number, common: object = {}) => ({
  common_properties: {
    start_time: { seconds: 1_000, nanos: 5_000_000 },
    duration: { nanos: 1_500_000 },
    downstream_remote_address: { socket_address: { address: '192.0.2.1', port_value: 1 } },
    route_name: 'Mapping/default/a',
    ...common,
  },
  protocol_version: 'HTTP2',
  request: { request_method: 'GET', scheme: 'https', authority: 'a.test', path },
  response: { response_code: { value: status } },
});
