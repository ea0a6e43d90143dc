import type { JsonObject } from '#protos/json.ts';
import { extension } from '../extension.ts';
import type { HeaderChange } from '../forwarded-headers.ts';

/**
 * Returns the part of Envoy's `HttpConnectionManager` that removes these headers from what a client
 * sent, before any filter and any route. So any header of such a name that arrives upstream is the
 * gateway's. The names come in lower case and sorted. `set` has the gateway's own values. Without
 * either the part is absent. Header names with `_` need no more than this: the edge rejects
 * requests that have one.
 */
export function earlyHeaderMutation(
  names: readonly string[],
  set: readonly HeaderChange[],
): JsonObject {
  const append = set.map(({ append_action, key, value }) => ({
    append: { header: { key, value }, append_action },
  }));
  const mutations = [...names.map(remove => ({ remove })), ...append];
  if (mutations.length === 0) return {};
  const typed_config = extension('http.early_header_mutation.header_mutation.v3.HeaderMutation', {
    mutations,
  });
  const name = 'envoy.http.early_header_mutation.header_mutation';
  return { early_header_mutation_extensions: [{ name, typed_config }] };
}
