import { caution, type Finding } from '#resources/finding.ts';
import { NEVER_IN_QUERY } from '#resources/match/query-match.ts';
import type { KindDefinition } from '#resources/schema/kind.ts';
import { gatewayApiKind } from '../gateway-api/gateway-api-kind.ts';
import { type HttpRouteRule, httpRouteSchema } from './http-route-spec.ts';

/** Routes of HTTP requests (https://gateway-api.sigs.k8s.io/api-types/httproute/). */
export const httpRoute: KindDefinition<typeof httpRouteSchema> = {
  ...gatewayApiKind(
    'Where the HTTP requests of a Gateway go, by host, path, header, query and method.',
    httpRouteSchema,
  ),
  check: ({ rules = [] }) => rules.flatMap(unmetParameters),
};

/** Finds values of parameters that no request has. The API leaves their encoding open. */
function unmetParameters({ matches }: HttpRouteRule, rule: number): readonly Finding[] {
  return matches.flatMap(({ queryParams }, match) =>
    queryParams.flatMap(({ type, value }, at) => {
      if (type !== 'Exact' || !NEVER_IN_QUERY.test(value)) return [];
      const path = ['rules', rule, 'matches', match, 'queryParams', at, 'value'];
      return [caution(path, UNMET)];
    }),
  );
}

const UNMET =
  'no request meets this: it has a character that never stands in a query. Write it percent-encoded, as clients send it';
