import { type JsonObject, objectsIn } from '#protos/json.ts';
import type { EnvoyRequest } from './envoy-request.ts';
import { unmetHeader } from './header-condition.ts';
import { unmetPath } from './path-condition.ts';
import { unmetQuery } from './query-condition.ts';
import type { Unmet } from './unmet.ts';

/**
 * Returns the conditions of a route that a request does not meet. It is empty when the route
 * matches. Throws an Error for a field of Envoy's `RouteMatch` that the compiler does not write.
 */
export function unmetConditions(match: JsonObject, request: EnvoyRequest): readonly Unmet[] {
  // Any request may be one of a share.
  const {
    case_sensitive = true,
    grpc,
    headers,
    query_parameters,
    runtime_fraction: _,
    ...path
  } = match;
  return [
    unmetPath(path, request.path, case_sensitive === true),
    ...(grpc === undefined ? [] : [unmetHeader(GRPC, request.headers)]),
    ...objectsIn(headers).map(matcher => unmetHeader(matcher, request.headers)),
    ...objectsIn(query_parameters).map(matcher => unmetQuery(matcher, request.query)),
  ].filter(unmet => unmet !== undefined);
}

/** Source: Envoy's page of `RouteMatch`, `grpc`. */
const GRPC: JsonObject = {
  name: 'content-type',
  string_match: { safe_regex: { regex: 'application/grpc([+;].*)?' } },
};
