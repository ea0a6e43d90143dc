import type { JsonObject } from '#protos/json.ts';
import type { HealthCheck } from '#resources/kinds/mapping/health-checks.ts';
import { toDuration } from '../duration.ts';
import { headersField } from '../header-option.ts';
import { headerOptions } from '../header-options.ts';

const INTERVAL_MS = 5_000;
const TIMEOUT_MS = 3_000;

/**
 * Keeps many proxies from asking an instance at the same moment. Envoy only ever waits longer.
 */
const JITTER_PERCENT = 10;

/**
 * Returns the part of Envoy's `Cluster` that checks its members. Discovery takes an instance out at
 * once, however well it is. A cluster without traffic is checked as often as any other, so that its
 * first request finds an instance that is well.
 */
export function healthCheck(check: HealthCheck, service: string, http2: boolean): JsonObject {
  const { interval = INTERVAL_MS, timeout = TIMEOUT_MS } = check;
  return {
    health_checks: [
      {
        timeout: toDuration(timeout),
        interval: toDuration(interval),
        no_traffic_interval: toDuration(interval),
        interval_jitter_percent: JITTER_PERCENT,
        unhealthy_threshold: check.unhealthy_threshold,
        healthy_threshold: check.healthy_threshold,
        ...checker(check.health_check, service, http2),
      },
    ],
    ignore_health_on_host_removal: true,
  };
}

function checker(
  { grpc, http }: HealthCheck['health_check'],
  service: string,
  http2: boolean,
): JsonObject {
  if (http !== undefined) return { http_health_check: httpCheck(http, service, http2) };
  if (grpc === undefined) return { tcp_health_check: {} };
  const { authority = service, upstream_name: service_name } = grpc;
  return { grpc_health_check: { service_name, authority } };
}

type Http = NonNullable<HealthCheck['health_check']['http']>;
type Range = { readonly min: number; readonly max: number };

function httpCheck(http: Http, service: string, http2: boolean): JsonObject {
  const { expected_statuses: expected = [{ min: 100, max: 499 }] } = http;
  return {
    host: http.hostname ?? service,
    path: http.path,
    expected_statuses: expected.map(toRange),
    // Without these a single failure of any status would take the instance out.
    retriable_statuses: [
      { min: 100, max: 502 },
      { min: 504, max: 599 },
    ].map(toRange),
    ...headersField('request_headers_to_add', headerOptions(http.add_request_headers)),
    ...headersField('request_headers_to_remove', http.remove_request_headers),
    ...(http2 ? { codec_client_type: 'HTTP2' } : {}),
  };
}

/** The end of Envoy's range is not part of it. */
function toRange({ min, max }: Range): JsonObject {
  return { start: min, end: max + 1 };
}
