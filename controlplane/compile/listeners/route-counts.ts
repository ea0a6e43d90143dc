import {
  ROUTE_LABEL,
  ROUTE_REQUESTS,
  ROUTE_SCOPE,
  ROUTE_TIME,
  STATUS_LABEL,
} from '#envoy/route-statistics.ts';
import type { JsonObject } from '#protos/json.ts';
import { extension } from '../extension.ts';

/**
 * Far beyond what the Mappings of a site need. A service may answer with any of 900 statuses, and
 * names of Mappings come and go.
 */
const MOST = { max_counters: 200_000, max_histograms: 100_000 };

/**
 * Returns the logs that count and time the answered requests of each route. The `stat_prefix` of
 * routes does it too. But Envoy makes the statistics of all of them again when one route changes,
 * which took two thirds of the time of an edit among 10,000 routes. These make those of a route
 * with its first answer, and cost a request some 2 µs more [measured]. Those of a route without
 * requests go after a day or two (`stats_eviction_interval`).
 */
export function routeCounts(): readonly JsonObject[] {
  const route = { name: ROUTE_LABEL, value_format: '%ROUTE_NAME%' };
  const status = { name: STATUS_LABEL, value_format: '%RESPONSE_CODE%' };
  const requests = { name: ROUTE_REQUESTS, tags: [route, status] };
  const time = { name: ROUTE_TIME, tags: [route] };
  return [
    log(ANSWERED, { counters: [{ stat: requests, value_fixed: '1' }] }),
    log(TIMED, {
      histograms: [{ stat: time, unit: 'Milliseconds', value_format: '%DURATION%' }],
    }),
  ];
}

function log(filters: readonly JsonObject[], statistics: JsonObject): JsonObject {
  return {
    name: 'envoy.access_loggers.stats',
    filter: { and_filter: { filters: [...filters, { not_health_check_filter: {} }] } },
    typed_config: extension('access_loggers.stats.v3.Config', {
      // With a `sharing_name` Envoy 1.40 crashes at the end of `--mode validate` [measured].
      stats_scope: { prefix: ROUTE_SCOPE, enable_eviction: true, ...MOST },
      ...statistics,
    }),
  };
}

/**
 * A request that its client gave up has no status. Envoy takes any up to 65,535 from a service, so
 * the services of four Mappings could fill the scope.
 */
const ANSWERED = [compared('GE', 100, 'least'), compared('LE', 999, 'most')];

/** A WebSocket, which is answered 101, lasts as long as its client likes. */
const TIMED = [compared('GE', 200, 'least_timed'), compared('LE', 999, 'most')];

function compared(op: 'GE' | 'LE', default_value: number, key: string): JsonObject {
  const value = { default_value, runtime_key: `figures.${key}_status` };
  return { status_code_filter: { comparison: { op, value } } };
}
