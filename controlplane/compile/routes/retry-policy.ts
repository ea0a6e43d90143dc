import type { JsonObject } from '#protos/json.ts';
import { extension } from '../extension.ts';
import { RETRIABLE_HEADER } from './retriable-header.ts';

/**
 * One more try, on another instance, of a request that no instance has begun to work on: safe for every method.
 * An application proxy says so of its instance by a header. Source: Envoy's page "Router", `x-envoy-retry-on`.
 */
export const RETRY_POLICY: JsonObject = {
  retry_on: 'connect-failure,refused-stream,reset-before-request,retriable-headers',
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
