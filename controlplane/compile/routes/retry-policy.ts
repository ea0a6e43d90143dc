import type { JsonObject } from '#protos/json.ts';
import type { RetryPolicy } from '#resources/retry-policy.ts';
import { toDuration } from '../duration.ts';
import { extension } from '../extension.ts';
import { RETRIABLE_HEADER } from './retriable-header.ts';

const UNSEEN = ['connect-failure', 'refused-stream', 'reset-before-request', 'retriable-headers'];

/**
 * One more try, on another instance, of a request that no instance has begun to work on: safe for every method.
 * An application proxy says so of its instance by a header. Source: Envoy's page "Router", `x-envoy-retry-on`.
 */
export const RETRY_POLICY: JsonObject = {
  retry_on: UNSEEN.join(),
  retriable_headers: [{ name: RETRIABLE_HEADER, present_match: true }],
  num_retries: 1,
  retry_host_predicate: [
    {
      name: 'envoy.retry_host_predicates.previous_hosts',
      typed_config: extension('retry.host.previous_hosts.v3.PreviousHostsPredicate'),
    },
  ],
  host_selection_retry_max_attempts: 3,
};

/** That of a Mapping: the operator's conditions join ours, or who asks for more would lose requests that are safe to repeat. */
export function retryPolicyOf(policy: RetryPolicy | undefined): JsonObject {
  if (policy === undefined) return RETRY_POLICY;
  const { retry_on, num_retries, per_try_timeout } = policy;
  return {
    ...RETRY_POLICY,
    retry_on: [...new Set([...UNSEEN, ...retry_on])].join(),
    num_retries,
    ...(per_try_timeout === undefined ? {} : { per_try_timeout: toDuration(per_try_timeout) }),
  };
}
