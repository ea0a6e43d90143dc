import type { KindDefinition } from '#resources/schema/kind.ts';
import { gatewayApiKind } from '../gateway-api/gateway-api-kind.ts';
import { httpRouteSchema } from './http-route-spec.ts';
import { vainRule } from './vain-rule.ts';

/** Routes of HTTP requests (https://gateway-api.sigs.k8s.io/api-types/httproute/). */
export const httpRoute: KindDefinition<typeof httpRouteSchema> = {
  ...gatewayApiKind(
    'Where the HTTP requests of a Gateway go, by host, path, header, query and method.',
    httpRouteSchema,
  ),
  check: ({ rules = [] }) => rules.flatMap(vainRule),
};
