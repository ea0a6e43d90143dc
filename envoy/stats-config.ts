import type { JsonObject } from '#protos/json.ts';
import { LATENCY_BOUNDS } from './latency-bounds.ts';

/**
 * What may follow a cluster's name in the name of a statistic. Words that are also usual names of a
 * namespace, such as `default`, stand with what follows them.
 */
const OF_CLUSTERS = [
  'assignment_',
  'bind_errors',
  'canary\\.upstream_',
  'circuit_breakers\\.',
  'client_ssl_',
  'control_plane\\.',
  'default\\.total_match_count$',
  'ext_authz\\.',
  'external\\.upstream_',
  'health_check\\.',
  'http[123]\\.',
  'init_fetch_timeout$',
  'internal\\.upstream_',
  'lb_',
  'max_host_weight$',
  'membership_',
  'outlier_detection\\.',
  'ratelimit\\.',
  'retry_or_shadow_',
  'ssl\\.',
  'update_',
  'upstream_',
  'version$',
  'version_text$',
  'warming_state$',
  'zone\\.',
];

/**
 * Envoy's own expressions end a name at its first dot. The rest would become part of the metric's
 * name, so each service `name.namespace` and each host would have metrics of its own.
 */
const WITH_DOTS = {
  'envoy.cluster_name': `^cluster\\.((.+?)\\.)(?:${OF_CLUSTERS.join('|')})`,
  'envoy.virtual_host': '^vhost\\.((.+)\\.)(?:route\\.Mapping/|vcluster\\.)',
  'envoy.route': '^vhost\\..+\\.route\\.((Mapping/.+)\\.)upstream_rq',
  'envoy.tls_certificate': '\\.ssl\\.certificate\\.((.+)\\.)expiration_unix_time_seconds$',
};

/** Labels whose values have no dots, as Envoy finds them. */
const USUAL = [
  'cipher_suite',
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
  'envoy.virtual_cluster',
  'envoy.worker_id',
  'envoy.xds_resource_name',
];

/** Envoy's `StatsConfig`: the labels that it makes of names, and the buckets of latencies. */
export const STATS_CONFIG: JsonObject = {
  use_all_default_tags: false,
  stats_tags: [
    ...Object.entries(WITH_DOTS).map(([tag_name, regex]) => ({ tag_name, regex })),
    ...USUAL.map(tag_name => ({ tag_name })),
  ],
  histogram_bucket_settings: [
    { match: { suffix: 'stream_rq_time' }, buckets: [...LATENCY_BOUNDS] },
  ],
};
