import { isJsonObject, type Json, type JsonObject } from '#protos/json.ts';
import type { EnvoyRequest } from './envoy-request.ts';
import { unmetHeader } from './header-condition.ts';
import { unmetPath } from './path-condition.ts';

/** A condition of a route that a request does not meet, in words. */
export type Unmet = { readonly of: 'host' | 'path' | 'method' | 'header'; readonly reason: string };

/**
 * What stands between a request and a route of the virtual host: nothing when the route matches. Throws an Error for a field of Envoy's
 * `RouteMatch` that the compiler does not write.
 */
export function unmetConditions(match: JsonObject, request: EnvoyRequest): readonly Unmet[] {
  const { headers, ...path } = match;
  return [
    unmetPath(path, request.path),
    ...objects(headers).map(matcher => unmetHeader(matcher, request.headers)),
  ].filter(unmet => unmet !== undefined);
}

function objects(json: Json | undefined): readonly JsonObject[] {
  return Array.isArray(json) ? json.filter(isJsonObject) : [];
}
