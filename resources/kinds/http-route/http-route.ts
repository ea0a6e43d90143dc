import { gatewayApiKind } from '../gateway-api/gateway-api-kind.ts';
import { httpRouteSchema } from './http-route-spec.ts';

/** Routes of HTTP requests (https://gateway-api.sigs.k8s.io/api-types/httproute/). */
export const httpRoute = gatewayApiKind(
  'Where the HTTP requests of a Gateway go, by host, path, header, query and method.',
  httpRouteSchema,
);
