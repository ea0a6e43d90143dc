import type { JsonObject } from '#protos/json.ts';

/** Returns Envoy's `HeaderValueOption` of a header that gets this value alone. */
export function setHeader(key: string, value: string): JsonObject {
  return { header: { key, value }, append_action: 'OVERWRITE_IF_EXISTS_OR_ADD' };
}

/** Returns a field of headers, which is absent where there are none. */
export function headersField(name: string, items: readonly (JsonObject | string)[]): JsonObject {
  return items.length === 0 ? {} : { [name]: items };
}
