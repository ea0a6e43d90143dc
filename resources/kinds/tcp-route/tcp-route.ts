import { connectionRoute } from '../gateway-api/connection-rule.ts';
import { gatewayApiKind } from '../gateway-api/gateway-api-kind.ts';

export const tcpRoute = gatewayApiKind(
  'Where the connections of a TCP listener go.',
  connectionRoute,
);
