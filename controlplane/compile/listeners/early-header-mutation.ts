import type { JsonObject } from '#protos/json.ts';
import { extension } from '../extension.ts';
import type { HeaderChange } from '../forwarded-headers.ts';

/**
 * The part of Envoy's `HttpConnectionManager` that takes these headers from what a client sent,
 * before any filter and any route: whatever arrives upstream under such a name was set by the
 * gateway. The names come in lower case and sorted; `set` is what the gateway says instead. Without
 * any of them there is no such part. Header names with `_` need no more than this: the edge refuses
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
