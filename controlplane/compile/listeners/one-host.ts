import type { JsonObject } from '#protos/json.ts';
import { extension } from '../extension.ts';
import type { Restated } from './error-pages.ts';

/** The name of the filter. */
export const ONE_HOST = 'gateway.one_host';

/**
 * Rejects a request that does not name one host. RFC 9112 section 3.2 forbids several, which Envoy
 * joins by a comma, so that the gateway and the service could each take another one. RFC 9110
 * section 4.2 forbids an empty host and a user before it. Envoy takes them from a client, but the
 * proxy beside an instance ends the whole HTTP/2 connection for them, with the requests of all
 * other clients on it [measured]. It is no route, since what follows the last colon does not choose
 * the virtual host.
 *
 * Envoy's filter of faults does it for half of what RBAC costs each request, since that one also
 * notes in the metadata what it let pass [measured]. It counts for itself alone. Otherwise the name
 * of a cluster that a client sends would become a statistic.
 */
export const ONE_HOST_FILTER: JsonObject = {
  name: ONE_HOST,
  typed_config: extension('filters.http.fault.v3.HTTPFault', {
    headers: [
      {
        name: ':authority',
        string_match: { safe_regex: { regex: '[^,@]+' } },
        invert_match: true,
      },
    ],
    abort: { http_status: 400, percentage: { numerator: 100 } },
    disable_downstream_cluster_stats: true,
  }),
};

export const NOT_ONE_HOST: Restated = {
  when: "response.code_details == 'fault_filter_abort'",
  status: 400,
  message: 'The request does not name one host.',
};

/** Returns whether a host can be that of a request. It has no dot at its end any more. */
export function isOneHost(authority: string): boolean {
  return /^[^,@]+$/.test(authority);
}
