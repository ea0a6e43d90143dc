import type { JsonObject } from '#protos/json.ts';

/**
 * Returns an extension's typed configuration. `type` is its message without the common prefix
 * `envoy.extensions.`.
 */
export function extension(type: string, fields: JsonObject = {}): JsonObject {
  return { '@type': `type.googleapis.com/envoy.extensions.${type}`, ...fields };
}
