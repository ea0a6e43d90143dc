import type { JsonObject } from '#protos/json.ts';
import { type Cors, openOrigin } from '#resources/traffic/cors.ts';
import { extension } from '../extension.ts';
import { CORS_NAME } from './cors-filter.ts';
import { originMatcher } from './origin-matcher.ts';

/**
 * Returns the filter's settings in a route. Envoy answers with the very origin of the request, also
 * for `*`. So caches must distinguish origins. What a service says of credentials, for its own list
 * of origins, must not stand beside. A preflight of another origin is answered, too, without
 * `Access-Control-Allow-Origin`.
 */
export function corsOf(cors: Cors | undefined): JsonObject {
  if (cors === undefined) return {};
  return {
    typed_per_filter_config: {
      [CORS_NAME]: extension('filters.http.cors.v3.CorsPolicy', policyOf(cors)),
    },
    response_headers_to_remove: ['access-control-allow-origin', 'access-control-allow-credentials'],
    response_headers_to_add: [
      { header: { key: 'vary', value: 'Origin' }, append_action: 'APPEND_IF_EXISTS_OR_ADD' },
    ],
  };
}

function policyOf(cors: Cors): JsonObject {
  const { origins, methods, headers, exposed_headers, max_age } = cors;
  return {
    allow_origin_string_match: origins.map(originMatcher),
    ...(methods.length === 0 ? {} : { allow_methods: methods.join(', ') }),
    ...(headers.length === 0 ? {} : { allow_headers: headers.join(', ') }),
    ...(exposed_headers.length === 0 ? {} : { expose_headers: exposed_headers.join(', ') }),
    ...(max_age === undefined ? {} : { max_age: String(max_age) }),
    allow_credentials: cors.credentials && openOrigin(cors) === undefined,
    forward_not_matching_preflights: false,
  };
}
