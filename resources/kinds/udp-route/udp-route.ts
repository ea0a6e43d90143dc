import { connectionRoute } from '../gateway-api/connection-rule.ts';
import { gatewayApiKind } from '../gateway-api/gateway-api-kind.ts';

export const udpRoute = gatewayApiKind(
  'Where the datagrams of a UDP listener go.',
  connectionRoute,
);
