/**
 * Where the API of Envoy 1.40 (by the descriptors inside of its binary) differs from the .proto
 * files of `@grpc/grpc-js-xds`, as far as it matters to us.
 */

/**
 * Fields that we use and that the .proto files do not have yet, each of a message type that
 * `declaredIn` declares.
 */
export const NEWER_FIELDS = [
  {
    type: 'envoy.extensions.common.ratelimit.v3.RateLimitDescriptor',
    name: 'hits_addend',
    number: 3,
    fieldType: 'google.protobuf.UInt64Value',
    declaredIn: 'google/protobuf/wrappers.proto',
  },
  {
    type: 'envoy.config.listener.v3.Listener',
    name: 'tcp_keepalive',
    number: 37,
    fieldType: 'envoy.config.core.v3.TcpKeepalive',
    declaredIn: 'envoy/config/core/v3/address.proto',
  },
] as const;

/**
 * Fields whose `validate.rules` Envoy has dropped or loosened since: what they refuse, Envoy may
 * take.
 */
export const LOOSENED_RULES: ReadonlySet<string> = new Set([
  '.envoy.config.accesslog.v3.ResponseFlagFilter.flags',
  '.envoy.config.core.v3.KeyValueAppend.entry',
  '.envoy.config.core.v3.QuicKeepAliveSettings.initial_interval',
  '.envoy.config.core.v3.QuicKeepAliveSettings.max_interval',
  '.envoy.config.core.v3.QuicProtocolOptions.idle_network_timeout',
  '.envoy.config.core.v3.RuntimeDouble.runtime_key',
  '.envoy.config.core.v3.RuntimeFeatureFlag.runtime_key',
  '.envoy.config.core.v3.RuntimePercent.runtime_key',
  '.envoy.config.core.v3.RuntimeUInt32.runtime_key',
  '.envoy.config.metrics.v3.HistogramBucketSettings.buckets',
  '.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor.Entry.value',
  '.envoy.extensions.filters.http.ext_authz.v3.ExtAuthzPerRoute.disabled',
  '.envoy.extensions.filters.network.http_connection_manager.v3.Rds.config_source',
  '.envoy.extensions.resource_monitors.fixed_heap.v3.FixedHeapConfig.max_heap_size_bytes',
  '.envoy.type.v3.TokenBucket.max_tokens',
]);
