/** The Envoy that we run, and whose API we speak. */
export const ENVOY_VERSION = '1.40.0';

/**
 * Every message and service of Envoy's that we encode, decode or serve is reachable from these
 * files.
 */
export const ENVOY_FILES = [
  'envoy/service/discovery/v3/ads.proto',
  'envoy/service/listener/v3/lds.proto',
  'envoy/service/route/v3/rds.proto',
  'envoy/service/cluster/v3/cds.proto',
  'envoy/service/endpoint/v3/eds.proto',
  'envoy/service/secret/v3/sds.proto',
  'envoy/service/accesslog/v3/als.proto',
  'envoy/service/auth/v3/external_auth.proto',
  'envoy/service/metrics/v3/metrics_service.proto',
  'envoy/service/ratelimit/v3/rls.proto',
  'envoy/config/bootstrap/v3/bootstrap.proto',
  'envoy/config/metrics/v3/metrics_service.proto',
  'envoy/config/metrics/v3/stats.proto',
  'envoy/extensions/access_loggers/file/v3/file.proto',
  'envoy/extensions/access_loggers/filters/cel/v3/cel.proto',
  'envoy/extensions/access_loggers/grpc/v3/als.proto',
  'envoy/extensions/access_loggers/stream/v3/stream.proto',
  'envoy/extensions/filters/http/cors/v3/cors.proto',
  'envoy/extensions/filters/http/ext_authz/v3/ext_authz.proto',
  'envoy/extensions/filters/http/header_mutation/v3/header_mutation.proto',
  'envoy/extensions/filters/http/header_to_metadata/v3/header_to_metadata.proto',
  'envoy/extensions/filters/http/health_check/v3/health_check.proto',
  'envoy/extensions/filters/http/lua/v3/lua.proto',
  'envoy/extensions/filters/http/ratelimit/v3/rate_limit.proto',
  'envoy/extensions/filters/http/rbac/v3/rbac.proto',
  'envoy/extensions/filters/http/router/v3/router.proto',
  'envoy/extensions/filters/http/upstream_codec/v3/upstream_codec.proto',
  'envoy/extensions/filters/listener/http_inspector/v3/http_inspector.proto',
  'envoy/extensions/filters/listener/tls_inspector/v3/tls_inspector.proto',
  'envoy/extensions/filters/network/direct_response/v3/config.proto',
  'envoy/extensions/filters/network/connection_limit/v3/connection_limit.proto',
  'envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.proto',
  'envoy/extensions/http/early_header_mutation/header_mutation/v3/header_mutation.proto',
  'envoy/extensions/resource_monitors/downstream_connections/v3/downstream_connections.proto',
  'envoy/extensions/resource_monitors/fixed_heap/v3/fixed_heap.proto',
  'envoy/extensions/retry/host/previous_hosts/v3/previous_hosts.proto',
  'envoy/extensions/transport_sockets/tls/v3/tls.proto',
  'envoy/extensions/upstreams/http/v3/http_protocol_options.proto',
  'src/proto/grpc/health/v1/health.proto',
] as const;
