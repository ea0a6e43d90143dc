import type { JsonObject } from '#protos/json.ts';
import type { OutlierDetection } from '#resources/traffic/outlier-detection.ts';
import { toDuration } from '../duration.ts';

const BASE_MS = 5_000;
const MOST_MS = 30_000;

/**
 * Ejects an instance after five failed requests in a row: no connection, no answer in time, or an
 * answer 502, 503 or 504. They are counted together, because a count of connections alone begins
 * anew with each connection that an instance accepts and then leaves without an answer. It gets no
 * request for 5 s, then 10 s, up to 30 s. When more than half of them are out, Envoy uses all again
 * (panic). Answers with 500 are the application's own, and a client could provoke them.
 */
export const OUTLIER_DETECTION: JsonObject = {
  split_external_local_origin_errors: false,
  consecutive_local_origin_failure: 3,
  enforcing_consecutive_local_origin_failure: 100,
  consecutive_gateway_failure: 5,
  enforcing_consecutive_gateway_failure: 100,
  enforcing_consecutive_5xx: 0,
  enforcing_success_rate: 0,
  enforcing_local_origin_success_rate: 0,
  interval: '1s',
  base_ejection_time: toDuration(BASE_MS),
  max_ejection_time: toDuration(MOST_MS),
  max_ejection_percent: 100,
};

/**
 * Returns the same with the operator's values. Envoy rejects a `max_ejection_time` below
 * `base_ejection_time`, so the one that is not written follows the other.
 */
export function outlierDetection(given: OutlierDetection): JsonObject {
  const { base_ejection_time: base, max_ejection_time: most } = given;
  const times = {
    base_ejection_time: base ?? Math.min(BASE_MS, most ?? BASE_MS),
    max_ejection_time: most ?? Math.max(MOST_MS, base ?? MOST_MS),
  };
  const fields = Object.entries({ ...enforced(given), ...given, ...times }).map(([name, value]) => [
    name,
    DURATIONS.has(name) ? toDuration(Number(value)) : value,
  ]);
  return { ...OUTLIER_DETECTION, ...Object.fromEntries(fields) };
}

const DURATIONS: ReadonlySet<string> = new Set<keyof OutlierDetection>([
  'base_ejection_time',
  'interval',
  'max_ejection_time',
  'max_ejection_time_jitter',
]);

/** What turns on a rule that is off above, or by Envoy's default. */
const RULES = {
  consecutive_5xx: 'enforcing_consecutive_5xx',
  failure_percentage_threshold: 'enforcing_failure_percentage',
  success_rate_minimum_hosts: 'enforcing_success_rate',
  success_rate_request_volume: 'enforcing_success_rate',
  success_rate_stdev_factor: 'enforcing_success_rate',
} as const;

/** A rule whose numbers are written is meant to have an effect. */
function enforced(given: OutlierDetection): OutlierDetection {
  const rules = Object.entries(RULES).filter(([name]) => Object.hasOwn(given, name));
  const isSplit = Object.keys(given).some(name => name.includes('local_origin'));
  return {
    ...Object.fromEntries(rules.map(([, rule]) => [rule, 100])),
    // Without it Envoy counts no failures of the proxy's own.
    ...(isSplit ? { split_external_local_origin_errors: true } : {}),
  };
}
