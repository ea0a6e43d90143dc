import type { JsonObject } from '#protos/json.ts';
import { extension } from '../extension.ts';
import { withoutFilter } from '../per-filter-config.ts';

/** The filter that writes `Strict-Transport-Security`. It stands in the chains of TLS alone (RFC 6797, section 7.2), and virtual hosts say what it writes. */
export const HSTS_FILTER = 'envoy.filters.http.header_mutation';

export const HSTS: JsonObject = {
  name: HSTS_FILTER,
  typed_config: extension('filters.http.header_mutation.v3.HeaderMutation', { mutations: {} }),
};

/** What a virtual host says of it. The service's own header does not stand. */
export function hstsOf(value: string): JsonObject {
  const header = { key: 'strict-transport-security', value };
  return extension('filters.http.header_mutation.v3.HeaderMutationPerRoute', {
    mutations: {
      response_mutations: [{ append: { header, append_action: 'OVERWRITE_IF_EXISTS_OR_ADD' } }],
    },
  });
}

/** A route whose answer is not the Host's. */
export const WITHOUT_HSTS: JsonObject = withoutFilter(HSTS_FILTER);
