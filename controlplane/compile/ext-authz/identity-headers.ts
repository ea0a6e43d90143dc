import type { JsonObject } from '#protos/json.ts';
import { extension } from '../extension.ts';

/** The name of the filter that removes identity headers, and of its settings in a virtual host. */
export const IDENTITY_HEADERS = 'gateway.identity_headers';

/**
 * Removes the headers that Filters inject from what clients send. It stands before ext_authz, so
 * that what a Filter injects survives. `request_headers_to_remove` would act behind it. The filter
 * stands in every edge listener, so that the first Filter does not drain it, and virtual hosts turn
 * it on.
 */
export const IDENTITY_HEADERS_FILTER: JsonObject = {
  name: IDENTITY_HEADERS,
  disabled: true,
  typed_config: extension('filters.http.header_mutation.v3.HeaderMutation', { mutations: {} }),
};

/**
 * Returns the part of a virtual host that removes these headers from every request, whatever its
 * route. Trailers count, because applications may merge them into the headers (RFC 9110 section
 * 6.5.1).
 */
export function removingHeaders(names: readonly string[]): JsonObject {
  if (names.length === 0) return {};
  const removed = names.map(remove => ({ remove }));
  const config = extension('filters.http.header_mutation.v3.HeaderMutationPerRoute', {
    mutations: { request_mutations: removed, request_trailers_mutations: removed },
  });
  return { typed_per_filter_config: { [IDENTITY_HEADERS]: config } };
}
