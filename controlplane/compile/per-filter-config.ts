import { isJsonObject, type JsonObject } from '#protos/json.ts';

/** The `typed_per_filter_config` of several parts of a route or virtual host together; they are for different filters. */
export function mergePerFilter(...parts: readonly JsonObject[]): JsonObject {
  const configs = parts.map(({ typed_per_filter_config }) => typed_per_filter_config).filter(isJsonObject);
  return Object.assign({}, ...configs) as JsonObject;
}
