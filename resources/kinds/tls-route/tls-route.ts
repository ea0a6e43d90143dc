import { gatewayApiKind } from '../gateway-api/gateway-api-kind.ts';
import { tlsRouteSchema } from './tls-route-spec.ts';

export const tlsRoute = gatewayApiKind(
  'Where the TLS connections of a listener go, by the name that the client asks for.',
  tlsRouteSchema,
);
