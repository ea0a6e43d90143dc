import type { JsonObject } from '#protos/json.ts';
import { hostMatches } from '../authority-match.ts';
import { extension } from '../extension.ts';
import { setHeader } from '../header-option.ts';
import { withoutFilter } from '../per-filter-config.ts';
import { quoteRegex } from '../quote-regex.ts';

/**
 * The filter that writes `Strict-Transport-Security`. It stands in the chains of TLS alone (RFC
 * 6797, section 7.2), and virtual hosts give the value.
 */
export const HSTS_FILTER = 'envoy.filters.http.header_mutation';

export const HSTS: JsonObject = {
  name: HSTS_FILTER,
  typed_config: extension('filters.http.header_mutation.v3.HeaderMutation', { mutations: {} }),
};

/**
 * Returns the part of the connection manager of a Host's TLS that adds the header to answers before
 * a route is chosen. There the filter knows no virtual host. It applies only to requests for the
 * Host's own names, and not where such a name is another Host's (421).
 */
export function hstsOfLocalReplies(
  hostname: string,
  value: string,
): { readonly filter: JsonObject; readonly headers_to_add: readonly JsonObject[] } {
  const own = { header_filter: { header: hostNames(hostname) } };
  const directed = { or_filter: { filters: [status('LE', 420), status('GE', 422)] } };
  return { filter: { and_filter: { filters: [own, directed] } }, headers_to_add: [toAdd(value)] };
}

/** Returns a `HeaderMatcher` for the names of a Host. */
function hostNames(hostname: string): JsonObject {
  if (hostname === '*') return { name: ':authority', present_match: true };
  return hostMatches(quoteRegex(hostname).replace(/^\\\*/, '.*'));
}

/** Returns the settings in a virtual host. They replace the service's own header. */
export function hstsOf(value: string): JsonObject {
  return extension('filters.http.header_mutation.v3.HeaderMutationPerRoute', {
    mutations: {
      response_mutations: [{ append: toAdd(value) }],
    },
  });
}

function toAdd(value: string): JsonObject {
  return setHeader('strict-transport-security', value);
}

function status(op: 'LE' | 'GE', default_value: number): JsonObject {
  return {
    status_code_filter: {
      comparison: { op, value: { default_value, runtime_key: 'gateway.none' } },
    },
  };
}

/** The part of a route whose answer is not the Host's. */
export const WITHOUT_HSTS: JsonObject = withoutFilter(HSTS_FILTER);
