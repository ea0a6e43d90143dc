import type { JsonObject } from '#protos/json.ts';

/**
 * Ejects an instance after three failed connections in a row, or after five answers 502, 503 or 504
 * in a row. It gets no request for 5 s, then 10 s, up to 30 s. At most half of the instances are
 * ejected. Beyond that Envoy uses them all again (panic). Answers with 500 are the application's
 * own, and a client could provoke them.
 */
export const OUTLIER_DETECTION: JsonObject = {
  split_external_local_origin_errors: true,
  consecutive_local_origin_failure: 3,
  enforcing_consecutive_local_origin_failure: 100,
  consecutive_gateway_failure: 5,
  enforcing_consecutive_gateway_failure: 100,
  enforcing_consecutive_5xx: 0,
  enforcing_success_rate: 0,
  enforcing_local_origin_success_rate: 0,
  interval: '1s',
  base_ejection_time: '5s',
  max_ejection_time: '30s',
  max_ejection_percent: 100,
};
