import type { JsonObject } from '#protos/json.ts';
import type { HttpRouteRule } from '#resources/kinds/http-route/http-route-spec.ts';
import { toDuration } from '../duration.ts';
import { RETRY_POLICY } from '../routes/retry-policy.ts';

/** The part of an HTTPRoute's rule that bounds its tries. A GRPCRoute has none. */
export type TimedRule = Partial<Pick<HttpRouteRule, 'retry' | 'timeouts'>>;

/**
 * Returns Envoy's `RetryPolicy` of a rule. Requests that no instance has begun to work on are tried
 * once more in any case. A rule that asks for retries also gets them when a connection breaks.
 */
export function retries({ retry, timeouts }: TimedRule): JsonObject {
  const perTry =
    timeouts?.backendRequest === undefined || timeouts.backendRequest === 0
      ? {}
      : { per_try_timeout: toDuration(timeouts.backendRequest) };
  if (retry === undefined) return { ...RETRY_POLICY, ...perTry };
  const { attempts, backoff = 0, codes } = retry;
  if (attempts === 0) return { ...perTry, retry_on: 'connect-failure', num_retries: 0 };
  return {
    ...RETRY_POLICY,
    retry_on: [
      'connect-failure',
      'refused-stream',
      'reset',
      'retriable-headers',
      'retriable-status-codes',
    ].join(),
    ...(codes.length === 0 ? {} : { retriable_status_codes: codes }),
    num_retries: attempts,
    // Envoy takes no interval of 0.
    ...(backoff === 0 ? {} : { retry_back_off: { base_interval: toDuration(backoff) } }),
    ...perTry,
  };
}
