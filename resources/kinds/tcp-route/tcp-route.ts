import { gatewayApiKind } from '../gateway-api/gateway-api-kind.ts';
import { tcpRouteSchema } from './tcp-route-spec.ts';

export const tcpRoute = gatewayApiKind(
  'Where the connections of a TCP listener go.',
  tcpRouteSchema,
);
