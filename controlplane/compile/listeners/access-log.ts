import type { JsonObject } from '#protos/json.ts';
import type { LogServiceSpec } from '#resources/kinds/log-service/log-service-spec.ts';
import { extension } from '../extension.ts';
import { EDGE } from '../node-groups.ts';
import { LATE_HEADER } from '../routes/late-tries.ts';
import { hasFields, logServiceLog } from './log-service.ts';
import { ENVOY_NAMESPACE, toEnvoyLogFormat } from './proxy-log-format.ts';

/**
 * Cookies, credentials and queries are left out: a query may hold either. What clients write is
 * cut, since a header may have many KiB.
 */
const DEFAULT_FORMAT = {
  time: '%START_TIME%',
  method: '%REQ(:METHOD):32%',
  scheme: '%REQ(X-FORWARDED-PROTO)%',
  host: '%REQ(:AUTHORITY):255%',
  path: '%PATH(NQ):2000%',
  protocol: '%PROTOCOL%',
  status: '%RESPONSE_CODE%',
  grpc_status: '%GRPC_STATUS%',
  details: '%RESPONSE_CODE_DETAILS%',
  flags: '%RESPONSE_FLAGS%',
  client: '%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%',
  user_agent: '%REQ(USER-AGENT):500%',
  request_id: '%REQ(X-REQUEST-ID):100%',
  bytes_received: '%BYTES_RECEIVED%',
  bytes_sent: '%BYTES_SENT%',
  duration_ms: '%DURATION%',
  attempts: '%UPSTREAM_REQUEST_ATTEMPT_COUNT%',
  route: '%ROUTE_NAME%',
  cluster: '%UPSTREAM_CLUSTER_RAW%',
  upstream: '%UPSTREAM_HOST%',
  upstream_failure: '%UPSTREAM_TRANSPORT_FAILURE_REASON%',
} as const;

const LIMIT_NAME = 'gw.ratelimit.name';

/**
 * The rate limit that was exceeded, if any. Only the edge asks for limits. See
 * docs/reference/kinds/rate-limit.md.
 */
const LIMIT_FORMAT = {
  limit: limitMetadata(LIMIT_NAME),
  limit_action: limitMetadata('gw.ratelimit.action'),
  retry_after: limitMetadata('gw.ratelimit.retry_after'),
} as const;

/**
 * The retry of a late try mostly ends before it is sent, and `%UPSTREAM_HOST%` would blame the host
 * that was chosen for it. This names the host of the last try, if it was sent. It names none where
 * no connection is made, so it is not in the other entries. See `routes/late-tries.ts`.
 */
const AFTER_LATE_TRY = { upstream: '%UPSTREAM_HOSTS_ATTEMPTED%' } as const;

function limitMetadata(key: string): string {
  return `%DYNAMIC_METADATA(${ENVOY_NAMESPACE}:${key})%`;
}

/**
 * Returns the edge's access logs. One line a request is on standard output, as JSON or in the
 * operator's format (`proxy_log_format`). The operator's LogService gets each request too. The
 * fields of a limit are in the entries of requests that exceeded one. Where there is none, to look
 * for them took 4 % of what a request costs Envoy [measured].
 */
export function accessLogs(
  format: string | undefined,
  service: LogServiceSpec | undefined,
): readonly JsonObject[] {
  const output =
    format === undefined
      ? withLimits(fields => standardOutput({ json_format: fields }))
      : [standardOutput(textFormat(format))];
  if (service === undefined) return output;
  const told = (fields: Fields) => logServiceLog(EDGE, service, fields);
  return [...output, ...(hasFields(service) ? withLimits(told) : [told({})])];
}

type Fields = Readonly<Record<string, string>>;

/**
 * Returns a log of the requests that exceeded no limit, one of the others with its fields, and one
 * of all that were late and that Envoy would have retried.
 */
function withLimits(log: (fields: Fields) => JsonObject): readonly JsonObject[] {
  const inTime = (filter: JsonObject) => ({
    and_filter: { filters: [retriedLate(false), filter] },
  });
  const limits = { ...DEFAULT_FORMAT, ...LIMIT_FORMAT };
  return [
    { ...log(DEFAULT_FORMAT), filter: inTime(limited(false)) },
    { ...log(limits), filter: inTime(limited(true)) },
    { ...log({ ...limits, ...AFTER_LATE_TRY }), filter: retriedLate(true) },
  ];
}

/** Returns the filter for requests whose last try follows on a late one, or for all others. */
function retriedLate(is: boolean): JsonObject {
  const header = { name: LATE_HEADER, string_match: { exact: 'true' } };
  const others = { invert_match: true, treat_missing_header_as_empty: true };
  return { header_filter: { header: is ? header : { ...header, ...others } } };
}

/**
 * Returns the filter for requests that exceeded a limit, or for all others. Envoy looks at a value
 * that is there, and leaves `invert` out.
 */
function limited(is: boolean): JsonObject {
  return {
    metadata_filter: {
      matcher: {
        filter: ENVOY_NAMESPACE,
        path: [{ key: LIMIT_NAME }],
        value: { present_match: is },
      },
      match_if_key_not_found: !is,
    },
  };
}

function textFormat(format: string): JsonObject {
  return { text_format_source: { inline_string: asLine(toEnvoyLogFormat(format)) } };
}

function standardOutput(log_format: JsonObject): JsonObject {
  return {
    name: 'envoy.access_loggers.stdout',
    typed_config: extension('access_loggers.stream.v3.StdoutAccessLog', { log_format }),
  };
}

function asLine(format: string): string {
  return format.endsWith('\n') ? format : `${format}\n`;
}

/**
 * Returns the logs of a proxy beside an application. They have an entry for each failure of a
 * request. Those of health checks are counted, and the edge logs every request of a client.
 */
export function failureLogs(
  group: string,
  service: LogServiceSpec | undefined,
): readonly JsonObject[] {
  const comparison = {
    op: 'GE',
    value: { default_value: 500, runtime_key: 'access_log.least_status' },
  };
  const logs = [
    standardOutput({ json_format: DEFAULT_FORMAT }),
    ...(service === undefined ? [] : [logServiceLog(group, service, DEFAULT_FORMAT)]),
  ];
  const filters = [{ status_code_filter: { comparison } }, NO_HEALTH_CHECK];
  return logs.map(log => ({ ...log, filter: { and_filter: { filters } } }));
}

/** Envoy's own name in the requests of its health checks. */
const NO_HEALTH_CHECK: JsonObject = {
  header_filter: {
    header: {
      name: 'user-agent',
      string_match: { exact: 'Envoy/HC' },
      invert_match: true,
      // Otherwise a request without the header would not be logged.
      treat_missing_header_as_empty: true,
    },
  },
};
