import { isJsonObject, type JsonObject } from '#protos/json.ts';

/**
 * The part of a virtual host or route where a filter is left out of the chain, which costs nothing;
 * one that is there and turned off costs as much as its making.
 */
export function withoutFilter(name: string): JsonObject {
  const config = {
    '@type': 'type.googleapis.com/envoy.config.route.v3.FilterConfig',
    disabled: true,
  };
  return { typed_per_filter_config: { [name]: config } };
}

/**
 * The `typed_per_filter_config` of several parts of a route or virtual host together, if there are
 * any; they are for different filters.
 */
export function perFilterConfig(...parts: readonly JsonObject[]): JsonObject {
  const configs = parts
    .map(({ typed_per_filter_config }) => typed_per_filter_config)
    .filter(isJsonObject);
  const together = Object.assign({}, ...configs) as JsonObject;
  return Object.keys(together).length === 0 ? {} : { typed_per_filter_config: together };
}
