import type { JsonObject } from '#protos/json.ts';
import { extension } from './extension.ts';

/** The part of a `RetryPolicy` that makes Envoy look for another host than that of the last try. */
export const ANOTHER_HOST: JsonObject = {
  retry_host_predicate: [
    {
      name: 'envoy.retry_host_predicates.previous_hosts',
      typed_config: extension('retry.host.previous_hosts.v3.PreviousHostsPredicate'),
    },
  ],
};
