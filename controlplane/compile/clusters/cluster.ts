import type { JsonObject } from '#protos/json.ts';
import { toDuration } from '../duration.ts';
import { extension } from '../extension.ts';

export type ClusterParts = {
  readonly connectTimeoutMs: number;
  /** How the members are found: `type` and what belongs to it. */
  readonly members: JsonObject;
  /** `hop`: HTTP/2 to a proxy of ours. */
  readonly protocol: 'http1' | 'http2' | 'hop';
  readonly transportSocket?: JsonObject;
};

const HTTP_PROTOCOL_OPTIONS = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';
const KIB = 1024;

/** Far above what a service takes, and still a bound. A retry counts as much as a first try: each request has one. */
const MOST = 10_000;

/** Envoy's `Cluster`, round robin. Source for the buffer limit: Envoy's page "Configuring Envoy as an edge proxy". */
export function toCluster(name: string, parts: ClusterParts): JsonObject {
  return {
    '@type': 'type.googleapis.com/envoy.config.cluster.v3.Cluster',
    name,
    ...parts.members,
    lb_policy: 'ROUND_ROBIN',
    connect_timeout: toDuration(parts.connectTimeoutMs),
    per_connection_buffer_limit_bytes: 32 * KIB,
    circuit_breakers: {
      thresholds: [
        { max_connections: MOST, max_pending_requests: MOST, max_requests: MOST, max_retries: MOST },
      ],
    },
    typed_extension_protocol_options: { [HTTP_PROTOCOL_OPTIONS]: PROTOCOLS[parts.protocol] },
    ...(parts.transportSocket === undefined ? {} : { transport_socket: parts.transportSocket }),
  };
}

const KEEPALIVE: JsonObject = { interval: '30s', timeout: '10s' };

/**
 * Idle HTTP/1.1 connections are closed before the service does it (Node.js after 5 s): a request sent onto a connection
 * that is just being closed would be lost. HTTP/2 says when it closes.
 */
const PROTOCOLS = {
  http1: extension('upstreams.http.v3.HttpProtocolOptions', {
    common_http_protocol_options: { idle_timeout: '4s' },
    explicit_http_config: { http_protocol_options: {} },
  }),
  http2: extension('upstreams.http.v3.HttpProtocolOptions', {
    explicit_http_config: { http2_protocol_options: { connection_keepalive: KEEPALIVE } },
  }),
  // The proxy takes so many streams on a connection; more, begun before it could say so, would be refused.
  hop: extension('upstreams.http.v3.HttpProtocolOptions', {
    explicit_http_config: {
      http2_protocol_options: { max_concurrent_streams: 100, connection_keepalive: KEEPALIVE },
    },
  }),
} as const;
