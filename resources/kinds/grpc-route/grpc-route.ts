import { gatewayApiKind } from '../gateway-api/gateway-api-kind.ts';
import { grpcRouteSchema } from './grpc-route-spec.ts';

/** Routes of gRPC calls (https://gateway-api.sigs.k8s.io/api-types/grpcroute/). */
export const grpcRoute = gatewayApiKind(
  'Where the gRPC calls of a Gateway go, by host, service, method and header.',
  grpcRouteSchema,
);
