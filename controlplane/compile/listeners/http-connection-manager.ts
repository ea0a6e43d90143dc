import type { JsonObject } from '#protos/json.ts';
import type { ModuleConfig } from '#resources/kinds/module/module.ts';
import { STREAM_IDLE_MS, toDuration } from '../duration.ts';
import { extension } from '../extension.ts';
import {
  forwardedHeaders,
  type HeaderChange,
  otherForwardedHeaders,
} from '../forwarded-headers.ts';
import { IS_LATE, LATE_HEADER } from '../routes/late-tries.ts';
import { RETRIABLE_ANSWERS } from '../routes/retriable-header.ts';
import type { EdgeHost } from '../tls/edge-hosts.ts';
import { HOST_HEADER } from '../tls/host-header.ts';
import { hstsOfLocalReplies } from '../tls/hsts.ts';
import { accessLogs, failureLogs } from './access-log.ts';
import type { Collectors } from './collectors.ts';
import { earlyHeaderMutation } from './early-header-mutation.ts';
import { errorPages, type LocalReplyHeaders, type Restated } from './error-pages.ts';
import { type Deciders, httpFilters } from './http-filters.ts';
import { NOT_ONE_HOST } from './one-host.ts';
import { routeCounts } from './route-counts.ts';
import { sampledRequestsLog } from './sampled-requests-log.ts';
import { removedTraceHeaders, tracing } from './tracing.ts';

/** What the edge has beyond the proxies beside applications. */
export type EdgeParts = Deciders & {
  readonly config: ModuleConfig;
  /** Headers that only the gateway sets, in lower case, sorted. */
  readonly gatewayHeaders: readonly string[];
  /** More headers that only the gateway sets. */
  readonly passedHeaders?: readonly string[];
  /** What the listener sets of them. */
  readonly marks?: readonly HeaderChange[];
  /** Whether a Mapping replaces the bodies of errors. */
  readonly errorBodies: boolean;
  /** Whether requests are counted by route, and sampled for the control plane. */
  readonly figures: boolean;
  readonly collectors?: Collectors;
};

/** The same with the ids of the resources that it comes from. */
export type EdgeListener = EdgeParts & { readonly origins: readonly string[] };

/** What the proxies beside applications have. */
export type SideParts = {
  readonly overrides?: ModuleConfig['error_response_overrides'];
  readonly errorBodies: boolean;
  readonly figures: boolean;
  readonly collectors?: Collectors;
};

/** The filter chain of a Host's TLS. `mark` is its value of HOST_HEADER. */
export type TlsChain = {
  readonly mark: string;
  readonly hasClientCertificates: boolean;
  readonly host: Pick<EdgeHost, 'hostname' | 'hsts'>;
};

const KIB = 1024;

/** Streams of one connection of HTTP/2. */
const STREAMS = 100;

/** Bytes that wait in one stream until the service reads them. */
const STREAM_WINDOW = 64 * KIB;

/**
 * Header fields of a client. Over HTTP/2 browsers send each cookie as one, and keep up to 180 of a
 * site. Beyond it Envoy resets the stream, and no log has it.
 */
const FIELDS = 300;

/** The longest time of a client's connection without a request. */
const IDLE_MS = 3_600_000;

/**
 * Returns Envoy's `HttpConnectionManager`. It is hardened at the edge, and trusts its peers beside
 * an application. `routes` names its `RouteConfiguration`.
 */
export function httpConnectionManager(
  group: string,
  parts: EdgeParts | undefined,
  tls?: TlsChain,
  side: SideParts = { errorBodies: false, figures: false },
  routes = group,
): JsonObject {
  const { collectors } = parts ?? side;
  return extension('filters.network.http_connection_manager.v3.HttpConnectionManager', {
    stat_prefix: group,
    rds: { route_config_name: routes, config_source: { ads: {}, resource_api_version: 'V3' } },
    ...PATHS_AND_HOSTS,
    ...TIMEOUTS_AND_LIMITS,
    ...(parts === undefined ? application(side.overrides) : edge(parts, tls)),
    ...tracing(group, collectors?.tracing),
    access_log: [
      ...(parts === undefined
        ? failureLogs(group, collectors?.log)
        : accessLogs(parts.config.proxy_log_format, collectors?.log)),
      ...((parts ?? side).figures ? [...routeCounts(), sampledRequestsLog()] : []),
    ],
    http_filters: httpFilters(parts, (parts ?? side).errorBodies, tls !== undefined),
  });
}

/** One spelling of path and host before anything decides by them. */
const PATHS_AND_HOSTS: JsonObject = {
  normalize_path: true,
  merge_slashes: true,
  strip_trailing_host_dot: true,
};

/**
 * Source: Envoy's page "Configuring Envoy as an edge proxy". Its `request_timeout` is left out. It
 * would end long uploads and streams, and `stream_idle_timeout` already ends those that send
 * nothing.
 */
const TIMEOUTS_AND_LIMITS: JsonObject = {
  request_headers_timeout: '10s',
  stream_idle_timeout: toDuration(STREAM_IDLE_MS),
  http2_protocol_options: http2Options(1_024 * KIB),
};

function http2Options(initial_connection_window_size: number): JsonObject {
  return {
    // Over HTTP/2 an upgrade is an extended CONNECT (RFC 8441). Routes decide which are passed on.
    // Clusters need no such field [measured].
    allow_connect: true,
    max_concurrent_streams: STREAMS,
    initial_stream_window_size: STREAM_WINDOW,
    initial_connection_window_size,
  };
}

function edge(
  { beforeRoute, collectors, config, gatewayHeaders, marks = [], passedHeaders = [] }: EdgeParts,
  tls: TlsChain | undefined,
): JsonObject {
  return {
    ...earlyHeaderMutation(
      [
        LATE_HEADER,
        HOST_HEADER,
        ORIGINAL_PATH,
        ...otherForwardedHeaders(config),
        ...passedHeaders,
        ...gatewayHeaders,
        ...removedTraceHeaders(collectors?.tracing),
      ],
      [
        ...(tls === undefined ? [] : [markOf(tls)]),
        ...marks,
        ...forwardedHeaders(config, tls !== undefined),
      ],
    ),
    ...(tls?.hasClientCertificates ? CLIENT_CERTIFICATE : {}),
    ...errorPages(config.error_response_overrides, hstsAnswers(tls), [LATE_ANSWER, NOT_ONE_HOST]),
    use_remote_address: config.use_remote_address,
    xff_num_trusted_hops: config.xff_num_trusted_hops,
    path_with_escaped_slashes_action:
      config.escaped_slashes === 'keep' ? 'KEEP_UNCHANGED' : 'REJECT_REQUEST',
    // An upstream that takes `_` for `-` could otherwise get a header that was meant to be checked.
    common_http_protocol_options: {
      headers_with_underscores_action: 'REJECT_REQUEST',
      idle_timeout: toDuration(config.listener_idle_timeout_ms ?? IDLE_MS),
      max_headers_count: FIELDS,
    },
    ...(config.server_name === undefined ? {} : { server_name: config.server_name }),
    ...(beforeRoute === undefined ? {} : ANY_UPGRADE),
  };
}

/**
 * The header in which the router keeps the path from before a rewrite. Logs and traces tell it as
 * the path of the request. Behind a trusted proxy Envoy takes it from clients.
 */
const ORIGINAL_PATH = 'x-envoy-original-path';

/**
 * Envoy decides about an upgrade by the first route. Where another is chosen, the first one may be
 * none that forwards.
 */
const ANY_UPGRADE: JsonObject = { upgrade_configs: [{ upgrade_type: 'websocket' }] };

/** What the edge ends because a try was too late. */
const LATE_ANSWER: Restated = { when: IS_LATE, status: 504 };

function hstsAnswers(tls: TlsChain | undefined): readonly LocalReplyHeaders[] {
  return tls?.host.hsts === undefined ? [] : [hstsOfLocalReplies(tls.host.hostname, tls.host.hsts)];
}

function markOf({ mark }: TlsChain): HeaderChange {
  return { key: HOST_HEADER, value: mark, append_action: 'OVERWRITE_IF_EXISTS_OR_ADD' };
}

/**
 * Services learn the client's certificate from `x-forwarded-client-cert`. The header is removed
 * when clients send it, here as everywhere (Envoy's default, SANITIZE).
 */
const CLIENT_CERTIFICATE: JsonObject = {
  forward_client_cert_details: 'SANITIZE_SET',
  set_current_client_cert_details: { subject: true, dns: true, uri: true },
};

/**
 * The edge adds headers to those that it accepts, and the former path is one of them. What is
 * beyond a bound here is reset, and instances that reset five requests in a row are ejected.
 */
const FROM_PROXIES: JsonObject = {
  // A connection has requests of many clients. Uploads that the service does not read leave room.
  http2_protocol_options: http2Options(STREAMS * STREAM_WINDOW),
  max_request_headers_kb: 240,
  common_http_protocol_options: { idle_timeout: toDuration(IDLE_MS), max_headers_count: 1_000 },
};

/**
 * The edge has set the client's address, scheme, certificate and request id, and they are passed on
 * unchanged. Most errors that clients see come from this proxy, before the service.
 */
function application(overrides: ModuleConfig['error_response_overrides']): JsonObject {
  return {
    use_remote_address: false,
    skip_xff_append: true,
    forward_client_cert_details: 'ALWAYS_FORWARD_ONLY',
    path_with_escaped_slashes_action: 'KEEP_UNCHANGED',
    server_header_transformation: 'PASS_THROUGH',
    ...FROM_PROXIES,
    ...errorPages(overrides, RETRIABLE_ANSWERS),
  };
}
