import type { JsonObject } from '#protos/json.ts';
import type { AddedHeaders } from '#resources/kinds/mapping/mapping-headers.ts';
import { compareText } from '#resources/words/order.ts';
import { toEnvoyLogFormat } from './listeners/proxy-log-format.ts';

/**
 * Returns Envoy's `HeaderValueOption` of each header, in the order of their names. Those of
 * `replaced` replace what is there in any case. An empty value replaces a header, too. Otherwise
 * the old value would stay.
 */
export function headerOptions(
  headers: AddedHeaders,
  replaced: ReadonlySet<string> = new Set(),
): readonly JsonObject[] {
  return Object.entries(headers)
    .sort(([a], [b]) => compareText(a, b))
    .map(([key, { append, value }]) => ({
      header: { key, value: toEnvoyLogFormat(value) },
      ...(append && !replaced.has(key)
        ? { append_action: 'APPEND_IF_EXISTS_OR_ADD' }
        : { append_action: 'OVERWRITE_IF_EXISTS_OR_ADD', keep_empty_value: true }),
    }));
}
