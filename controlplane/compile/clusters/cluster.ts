import { isJsonObject, type JsonObject } from '#protos/json.ts';
import { toDuration } from '../duration.ts';
import { extension } from '../extension.ts';
import { circuitBreakers } from './circuit-breakers.ts';
import { type ClusterTraffic, connectionTimes, lbPolicy, tcpKeepalive } from './cluster-traffic.ts';
import { healthCheck } from './health-check.ts';
import { outlierDetection } from './outlier-detection.ts';

export type ClusterParts = {
  readonly connectTimeoutMs: number;
  /** Fields that tell how members are found: `type` and what belongs to it. */
  readonly members: JsonObject;
  /** `hop`: HTTP/2 to a proxy of ours. */
  readonly protocol: 'http1' | 'http2' | 'hop';
  readonly transportSocket?: JsonObject;
  /** The service's usual spelling, as the host of health checks. */
  readonly service?: string;
  /** Absent: the defaults. */
  readonly traffic?: ClusterTraffic;
  /** A stream that lasts for longer is ended, in ms. Absent: as `traffic` says. */
  readonly longestStreamMs?: number;
  /** Envoy's `RetryPolicy`, in place of that of a route or of a call. Absent: that one. */
  readonly retries?: JsonObject;
  /** Envoy's `MatchPredicate` of answers that outlier detection counts. Absent: 500 to 599. */
  readonly failures?: JsonObject;
};

const HTTP_PROTOCOL_OPTIONS = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';
const KIB = 1024;

/**
 * Returns Envoy's `Cluster`. Source for the buffer limit: Envoy's page "Configuring Envoy as an
 * edge proxy".
 */
export function toCluster(name: string, parts: ClusterParts): JsonObject {
  const { traffic = {} } = parts;
  return {
    '@type': 'type.googleapis.com/envoy.config.cluster.v3.Cluster',
    name,
    ...parts.members,
    ...health(name, parts),
    lb_policy: lbPolicy(traffic.load_balancer),
    common_lb_config: { update_merge_window: UPDATE_MERGE_WINDOW },
    connect_timeout: toDuration(connectTimeoutMs(parts)),
    per_connection_buffer_limit_bytes: 32 * KIB,
    ...circuitBreakers(traffic.circuit_breakers, traffic.priority),
    ...tcpKeepalive(traffic),
    typed_extension_protocol_options: {
      [HTTP_PROTOCOL_OPTIONS]: protocolOptions(parts, traffic),
    },
    ...(parts.transportSocket === undefined ? {} : { transport_socket: parts.transportSocket }),
  };
}

/**
 * Envoy's default is a second. When two members fail together, the second would get requests for so
 * long after it is known.
 */
const UPDATE_MERGE_WINDOW = '0.1s';

function health(name: string, parts: ClusterParts): JsonObject {
  const { members, protocol, service = name, traffic = {} } = parts;
  const { health_checks: [check] = [], outlier_detection: given } = traffic;
  const detection = given === undefined ? members.outlier_detection : outlierDetection(given);
  return {
    ...(check === undefined ? {} : healthCheck(check, service, protocol !== 'http1')),
    ...(isJsonObject(detection)
      ? { outlier_detection: { ...(check === undefined ? {} : STAY_OUT), ...detection } }
      : {}),
  };
}

/** Otherwise a member whose checks succeed, and whose requests fail, would be back at once. */
const STAY_OUT: JsonObject = { successful_active_health_check_uneject_host: false };

const KEEPALIVE: JsonObject = { interval: '10s', timeout: '5s' };

/**
 * A proxy whose machine has vanished is noticed within 3 s, which is the default time of a request.
 * Then what may be repeated is retried elsewhere. A proxy answers pings itself, however busy its
 * service is.
 */
const HOP_KEEPALIVE: JsonObject = { interval: '0.5s', timeout: '2s' };

/**
 * A proxy that accepts no connection for this time is gone. Another is tried while there is time.
 */
const HOP_CONNECT_MS = 1_000;

/**
 * Idle HTTP/1.1 connections are closed before the service closes them (Node.js after 5 s). A
 * request on a connection that is just being closed would be lost. HTTP/2 announces the end of a
 * connection.
 */
const IDLE_HTTP1 = '4s';

/** Bytes that wait in the edge for a client that reads slowly. Many such clients share its heap. */
const STREAM_WINDOW = 256 * KIB;

/**
 * Returns windows that let so many streams stand still, each with a full window, and others go on.
 * With Envoy's own (16 MiB, and 24 MiB for all) two clients that read a download slowly would stop
 * the answers to all others on the connection [measured].
 */
function windows(streams: number) {
  return {
    initial_stream_window_size: STREAM_WINDOW,
    initial_connection_window_size: streams * STREAM_WINDOW,
  };
}

const EXPLICIT = {
  http1: { http_protocol_options: {} },
  http2: { http2_protocol_options: { ...windows(1_024), connection_keepalive: KEEPALIVE } },
  // The proxy accepts this many streams on a connection. It would reject more that begin before it
  // could announce the limit.
  hop: {
    http2_protocol_options: {
      max_concurrent_streams: 100,
      ...windows(100),
      connection_keepalive: HOP_KEEPALIVE,
    },
  },
} as const;

function connectTimeoutMs({ connectTimeoutMs, protocol }: ClusterParts): number {
  return protocol === 'hop' ? Math.min(connectTimeoutMs, HOP_CONNECT_MS) : connectTimeoutMs;
}

function protocolOptions(
  { failures, longestStreamMs, protocol, retries }: ClusterParts,
  traffic: ClusterTraffic,
): JsonObject {
  const idle = protocol === 'http1' ? IDLE_HTTP1 : undefined;
  return extension('upstreams.http.v3.HttpProtocolOptions', {
    ...connectionTimes(traffic, idle, longestStreamMs),
    explicit_http_config: EXPLICIT[protocol],
    ...(retries === undefined ? {} : { retry_policy: retries }),
    ...(failures === undefined ? {} : { outlier_detection: { error_matcher: failures } }),
  });
}
