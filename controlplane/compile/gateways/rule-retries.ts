import type { JsonObject } from '#protos/json.ts';
import type { HttpRouteRule } from '#resources/kinds/http-route/http-route-spec.ts';
import { toDuration } from '../duration.ts';
import { REPEAT_LATE_TRIES } from '../routes/late-tries.ts';
import { RETRY_POLICY } from '../routes/retry-policy.ts';

/** The part of an HTTPRoute's rule that bounds its tries. A GRPCRoute has none. */
export type TimedRule = Partial<Pick<HttpRouteRule, 'retry' | 'timeouts'>>;

/**
 * Returns Envoy's `RetryPolicy` of a rule. Requests that no instance has begun to work on are tried
 * once more in any case. To Envoy a late try is a reset, and it retries both or neither. Other
 * requests than GET, HEAD and OPTIONS may have been worked on, so it retries them only where a late
 * try is to be followed by another. Source: Gateway API's comment of `HTTPRouteRetry`.
 */
export function retries(rule: TimedRule): JsonObject {
  const { retry, timeouts } = rule;
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
      repeatsLateTries(rule) ? 'reset' : 'reset-before-request',
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

/** Returns the part of a rule's route that lets a late try be followed by another. */
export function lateRetries(rule: TimedRule): JsonObject {
  return repeatsLateTries(rule) ? REPEAT_LATE_TRIES : {};
}

/** Returns whether the rule asks for retries, and bounds each try so that time is left for one. */
function repeatsLateTries({ retry, timeouts }: TimedRule): boolean {
  const { backendRequest = 0, request = 0 } = timeouts ?? {};
  const isShorter = backendRequest > 0 && (request === 0 || backendRequest < request);
  return isShorter && (retry?.attempts ?? 0) > 0;
}
