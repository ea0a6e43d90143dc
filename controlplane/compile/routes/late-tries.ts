import type { JsonObject } from '#protos/json.ts';
import type { MappingSpec } from '#resources/kinds/mapping/mapping-spec.ts';
import { extension } from '../extension.ts';
import { RETRY_ON_HEADER } from './repeat-safe-methods.ts';

/** On a retry Envoy's router writes into it whether the try before was too late. */
export const LATE_HEADER = 'x-envoy-is-timeout-retry';

/** The name of the filter, and of its settings in a route. */
const LATE_TRIES = 'gateway.late_tries';

const POLICY = 'answer_too_late';

/** The details of a request that the filter ended, in the access log. */
export const LATE_DETAILS = `rbac_access_denied_matched_policy[${POLICY}]`;

/** Whether the filter ended it. To the error pages its status is still 403. */
export const IS_LATE = `response.code_details == '${LATE_DETAILS}'`;

/**
 * The filters of the edge's router for each try. To the router a late try is a reset like any
 * other, and it would retry both. So it marks which of them a retry follows, and the filter ends
 * the retry of a late one before it is sent. The service sees such a request once, and the client
 * waits once. RBAC takes 2 kB for each listener's filter chain, Lua took 500 kB [measured]. The
 * services see the mark of a retry. A filter that hides it would run for every request. Source:
 * Envoy's page "Router", `x-envoy-is-timeout-retry`.
 */
export const TRY_FILTERS: JsonObject = {
  upstream_http_filters: [
    {
      name: LATE_TRIES,
      typed_config: extension('filters.http.rbac.v3.RBAC', {
        rules: {
          action: 'DENY',
          policies: {
            [POLICY]: {
              permissions: [{ header: { name: LATE_HEADER, string_match: { exact: 'true' } } }],
              principals: [{ any: true }],
            },
          },
        },
      }),
    },
    {
      name: 'envoy.filters.http.upstream_codec',
      typed_config: extension('filters.http.upstream_codec.v3.UpstreamCodec'),
    },
  ],
};

/** The part of an edge's virtual host that makes the router mark its retries. */
export const MARK_LATE_TRIES: JsonObject = { include_is_timeout_retry_header: true };

/** The part of a route that turns the filter off, and retries what its own policy says alone. */
export const REPEAT_LATE_TRIES: JsonObject = {
  request_headers_to_remove: [RETRY_ON_HEADER],
  typed_per_filter_config: { [LATE_TRIES]: extension('filters.http.rbac.v3.RBACPerRoute') },
};

/** Conditions under which Envoy's router retries what was reset, and so what is late. */
const OF_RESETS: readonly string[] = ['5xx', 'gateway-error', 'reset'];

type Bounds = Pick<MappingSpec, 'retry_policy' | 'timeout_ms'>;

/** Returns the part of an edge's route that says what is retried besides its retry policy. */
export function repeats(bounds: Bounds): JsonObject {
  return repeatsLateTries(bounds) ? REPEAT_LATE_TRIES : {};
}

/** Returns whether the operator asks for a retry of a late try, and time is left for it. */
function repeatsLateTries({ retry_policy, timeout_ms }: Bounds): boolean {
  const { per_try_timeout = 0, retry_on = [] } = retry_policy ?? {};
  const isShorter = per_try_timeout > 0 && (timeout_ms === 0 || per_try_timeout < timeout_ms);
  return isShorter && retry_on.some(condition => OF_RESETS.includes(condition));
}
