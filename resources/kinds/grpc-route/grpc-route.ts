import type { KindDefinition } from '#resources/schema/kind.ts';
import { gatewayApiKind } from '../gateway-api/gateway-api-kind.ts';
import { vainRule } from '../http-route/vain-rule.ts';
import { grpcRouteSchema } from './grpc-route-spec.ts';

/** Routes of gRPC calls (https://gateway-api.sigs.k8s.io/api-types/grpcroute/). */
export const grpcRoute: KindDefinition<typeof grpcRouteSchema> = {
  ...gatewayApiKind(
    'Where the gRPC calls of a Gateway go, by host, service, method and header.',
    grpcRouteSchema,
  ),
  check: ({ rules = [] }) => rules.flatMap(vainRule),
};
