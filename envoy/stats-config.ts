import type { JsonObject } from '#protos/json.ts';
import { LATENCY_BOUNDS } from './latency-bounds.ts';

/**
 * Labels as Envoy finds them. It ends a value at a dot, so the control plane makes names for
 * statistics that have none. Expressions of ours would cost it more than all else of a new cluster
 * [measured].
 */
const LABELS = [
  'cipher_suite',
  'envoy.cluster_name',
  'envoy.connection_limit_prefix',
  'envoy.http_conn_manager_prefix',
  'envoy.listener_address',
  'envoy.rds_route_config',
  'envoy.response_code',
  'envoy.response_code_class',
  'envoy.route',
  'envoy.ssl_cipher',
  'envoy.ssl_curve',
  'envoy.ssl_sigalg',
  'envoy.ssl_version',
  'envoy.tls_certificate',
  'envoy.virtual_cluster',
  'envoy.virtual_host',
  'envoy.worker_id',
  'envoy.xds_resource_name',
];

/** Envoy's `StatsConfig`: the labels that it makes of names, and the buckets of latencies. */
export const STATS_CONFIG: JsonObject = {
  use_all_default_tags: false,
  stats_tags: LABELS.map(tag_name => ({ tag_name })),
  histogram_bucket_settings: [
    { match: { suffix: 'stream_rq_time' }, buckets: [...LATENCY_BOUNDS] },
  ],
};
