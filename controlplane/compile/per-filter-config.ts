import { isJsonObject, type JsonObject } from '#protos/json.ts';

/**
 * Returns the part of a virtual host or route that leaves a filter out of the chain, which costs
 * nothing. A filter that is there and turned off costs as much as its making.
 */
export function withoutFilter(name: string): JsonObject {
  const config = {
    '@type': 'type.googleapis.com/envoy.config.route.v3.FilterConfig',
    disabled: true,
  };
  return { typed_per_filter_config: { [name]: config } };
}

/**
 * Merges the `typed_per_filter_config` of several parts of a route or virtual host, if there are
 * any. They are for different filters.
 */
export function perFilterConfig(...parts: readonly JsonObject[]): JsonObject {
  const configs = parts
    .map(({ typed_per_filter_config }) => typed_per_filter_config)
    .filter(isJsonObject);
  const together = Object.assign({}, ...configs) as JsonObject;
  return Object.keys(together).length === 0 ? {} : { typed_per_filter_config: together };
}
