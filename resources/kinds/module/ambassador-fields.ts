/** What to write in place of settings of Ambassador's Module that are not served. */
export const AMBASSADOR_FIELDS: ReadonlyMap<string, string> = new Map([
  ['add_linkerd_headers', 'Write `l5d-dst-override` in `add_request_headers` of each Mapping'],
  ['cluster_request_timeout_ms', 'Write `timeout_ms` in each Mapping'],
  ['enable_grpc_web', 'Run a proxy for it in front of a service that speaks gRPC alone'],
  ['enable_ipv4', 'Write it in each Mapping'],
  ['enable_ipv6', 'Write it in each Mapping'],
  ['envoy_log_format', 'Write `proxy_log_format`, which is one text'],
  ['envoy_log_path', 'The edge logs to its standard output'],
  ['envoy_log_type', '`proxy_log_format` is text. Without it the log is JSON'],
  ['merge_slashes', 'They are merged in any case'],
  ['reject_requests_with_escaped_slashes', 'They are rejected unless `escaped_slashes` is `keep`'],
  ['resolver', 'Write it in each Mapping'],
  ['service_port', 'Write `port` of a Listener'],
  ['strip_matching_host_port', 'Ports are ignored when hosts are compared'],
  ['suppress_envoy_headers', 'Write `remove_response_headers` below `defaults`'],
  [
    'use_ambassador_namespace_for_service_resolution',
    'Write the namespace into `service` of each Mapping',
  ],
  ['use_proxy_proto', 'Write `protocol: HTTPPROXY` or `HTTPSPROXY` of a Listener'],
]);
