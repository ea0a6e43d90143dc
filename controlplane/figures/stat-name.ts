import {
  ROUTE_LABEL,
  ROUTE_REQUESTS,
  ROUTE_SCOPE,
  ROUTE_TIME,
  STATUS_LABEL,
} from '#envoy/route-statistics.ts';
import type { UpstreamCounts } from './figures.ts';
import {
  CLIENT_ERRORS,
  errorColumn,
  REQUESTS,
  SERVER_ERRORS,
  type TrafficColumn,
} from './traffic.ts';

/** What a statistic of Envoy's is about. */
export type Stat =
  | { readonly of: 'group'; readonly what: Counted }
  | { readonly of: 'mapping'; readonly mapping: string; readonly what: Counted }
  | {
      readonly of: 'upstream';
      readonly cluster: string;
      readonly what: keyof UpstreamCounts | MemberGauge;
    }
  | { readonly of: 'overload'; readonly what: string }
  /** New connections of clients that were closed, because there are as many as there may be. */
  | { readonly of: 'overflow' };

/** The columns that a counter adds to, or the time of requests. */
type Counted = readonly TrafficColumn[] | 'latency';

/**
 * `presence` is a gauge that every cluster has. A cluster that never had a member lacks the others.
 */
export type MemberGauge = 'members' | 'healthy' | 'presence';

const HTTP = new Map<string, Counted>([
  ['downstream_rq_completed', [REQUESTS]],
  ['downstream_rq_4xx', [CLIENT_ERRORS]],
  ['downstream_rq_5xx', [SERVER_ERRORS]],
  ['downstream_rq_time', 'latency'],
]);

const CLUSTER: ReadonlyMap<string, keyof UpstreamCounts | MemberGauge> = new Map([
  ['upstream_rq_total', 'requests'],
  ['upstream_rq_1xx', 'answers'],
  ['upstream_rq_2xx', 'answers'],
  ['upstream_rq_3xx', 'answers'],
  ['upstream_rq_4xx', 'answers'],
  ['upstream_rq_5xx', 'serverErrors'],
  ['upstream_rq_per_try_timeout', 'late'],
  ['upstream_rq_timeout', 'timeouts'],
  ['upstream_rq_max_duration_reached', 'timeouts'],
  ['upstream_cx_connect_fail', 'connectFailures'],
  ['upstream_cx_connect_timeout', 'connectTimeouts'],
  ['ssl.connection_error', 'tlsFailures'],
  ['ssl.fail_verify_no_cert', 'tlsFailures'],
  ['ssl.fail_verify_error', 'tlsFailures'],
  ['ssl.fail_verify_san', 'tlsFailures'],
  ['ssl.fail_verify_cert_hash', 'tlsFailures'],
  ['upstream_cx_none_healthy', 'noHealthy'],
  ['update_failure', 'updateFailures'],
  ['update_rejected', 'updateFailures'],
  ['update_empty', 'updatesEmpty'],
  ['update_success', 'updates'],
  ['health_check.attempt', 'checks'],
  ['health_check.failure', 'checkFailures'],
  ['outlier_detection.ejections_enforced_total', 'ejections'],
  ['outlier_detection.ejections_detected_consecutive_5xx', 'failedCalls'],
  ['membership_total', 'members'],
  ['membership_healthy', 'healthy'],
  ['warming_state', 'presence'],
]);

/** What an overloaded proxy does. Each is a gauge that is 1 meanwhile. */
const OVERLOAD: ReadonlySet<string> = new Set([
  'overload.envoy.overload_actions.stop_accepting_requests.active',
  'overload.envoy.overload_actions.stop_accepting_connections.active',
]);

const OVERFLOW = /^listener\..+\.downstream_global_cx_overflow$/s;

const ROUTE_KINDS: readonly string[] = ['Mapping', 'HTTPRoute', 'GRPCRoute'];

const ANSWERS_START = `${ROUTE_SCOPE}.${ROUTE_REQUESTS}.${ROUTE_LABEL}.`;
const STATUS_MARK = `.${STATUS_LABEL}.`;
const TIME_START = `${ROUTE_SCOPE}.${ROUTE_TIME}.${ROUTE_LABEL}.`;

/** Returns whether a route of Envoy has the id of a Mapping or of a route of Gateways. */
export function isRouteId(name: string): boolean {
  return ROUTE_KINDS.some(kind => name.startsWith(`${kind}/`));
}

/**
 * Reads the name of a statistic of a proxy of `group`. Source: Envoy's pages "Statistics" of the
 * HTTP connection manager, the router, the cluster manager, listeners and the overload manager.
 * @returns undefined when no figure comes from it
 */
export function parseStatName(name: string, group: string): Stat | undefined {
  if (name.startsWith('cluster.')) return clusterStat(name);
  if (name.startsWith(ANSWERS_START)) return answersStat(name);
  if (name.startsWith(TIME_START)) return timeStat(name);
  if (OVERLOAD.has(name)) return { of: 'overload', what: name };
  if (OVERFLOW.test(name)) return { of: 'overflow' };
  const start = `http.${group}.`;
  if (!name.startsWith(start)) return undefined;
  const what = HTTP.get(name.slice(start.length));
  return what === undefined ? undefined : { of: 'group', what };
}

function answersStat(name: string): Stat | undefined {
  const end = name.lastIndexOf(STATUS_MARK);
  const mapping = name.slice(ANSWERS_START.length, end);
  const status = name.slice(end + STATUS_MARK.length);
  if (end === -1 || !isRouteId(mapping) || !/^\d{3}$/.test(status)) return undefined;
  const error = errorColumn(Number(status));
  return { of: 'mapping', mapping, what: error === undefined ? [REQUESTS] : [REQUESTS, error] };
}

function timeStat(name: string): Stat | undefined {
  const mapping = name.slice(TIME_START.length);
  return isRouteId(mapping) ? { of: 'mapping', mapping, what: 'latency' } : undefined;
}

function clusterStat(name: string): Stat | undefined {
  const last = name.lastIndexOf('.');
  const dot = CLUSTER.has(name.slice(last + 1)) ? last : name.lastIndexOf('.', last - 1);
  const what = CLUSTER.get(name.slice(dot + 1));
  const cluster = name.slice('cluster.'.length, dot);
  return what === undefined || cluster === '' ? undefined : { of: 'upstream', cluster, what };
}
