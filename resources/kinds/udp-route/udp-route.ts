import { gatewayApiKind } from '../gateway-api/gateway-api-kind.ts';
import { udpRouteSchema } from './udp-route-spec.ts';

export const udpRoute = gatewayApiKind('Where the datagrams of a UDP listener go.', udpRouteSchema);
