import type { JsonObject } from '#protos/json.ts';
import { LATENCY_BOUNDS } from './latency-bounds.ts';
import { ROUTE_SCOPE, ROUTE_TIME } from './route-statistics.ts';

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
  'envoy.ssl_cipher',
  'envoy.ssl_curve',
  'envoy.ssl_sigalg',
  'envoy.ssl_version',
  'envoy.worker_id',
  'envoy.xds_resource_name',
];

/**
 * The name of a certificate may be that of a host, with dots. Envoy tries the expression with
 * statistics of listeners alone, since it begins with that word. One for clusters would take more
 * time than all else of a new cluster [measured], so their certificates have no such label.
 */
const CERTIFICATES = {
  tag_name: 'envoy.tls_certificate',
  regex: '^listener\\..+\\.ssl\\.certificate\\.((.+)\\.)expiration_unix_time_seconds$',
};

/**
 * Envoy makes these for each cluster, and nothing reads them. Most stay 0, because nothing of ours
 * has subsets, a local cluster or assignments that grow stale. The rest repeat what is in the
 * configuration. Without them 10,000 clusters start in two thirds of the time, and take 30 MiB less
 * [measured]. What a limit of high priority turns away is in the counters of overflow.
 */
const OF_EACH_CLUSTER = `^cluster\\.[^.]+\\.(?:${[
  'assignment_(?:stale|timeout_received|use_cached)',
  'circuit_breakers\\.high\\..*',
  'default\\.total_match_count',
  'lb_(?:subsets|zone)_.*',
  'lb_local_cluster_not_ok',
  'lb_recalculate_zone_structures',
  'max_host_weight',
  'update_no_rebuild',
  'version',
].join('|')})$`;

/** Envoy's `StatsConfig`: the labels that it makes of names, and the buckets of latencies. */
export const STATS_CONFIG: JsonObject = {
  use_all_default_tags: false,
  stats_tags: [CERTIFICATES, ...LABELS.map(tag_name => ({ tag_name }))],
  stats_matcher: {
    exclusion_list: {
      patterns: [{ safe_regex: { regex: OF_EACH_CLUSTER } }],
    },
  },
  histogram_bucket_settings: [
    { suffix: 'stream_rq_time' },
    { prefix: `${ROUTE_SCOPE}.${ROUTE_TIME}.` },
  ].map(match => ({ match, buckets: [...LATENCY_BOUNDS] })),
};
