import { gatewayApiKind } from '../gateway-api/gateway-api-kind.ts';
import { gatewaySchema } from './gateway-spec.ts';

/** A gateway of Gateway API (https://gateway-api.sigs.k8s.io/). */
export const gateway = gatewayApiKind(
  'Where clients connect: listeners with port, protocol, host name and TLS.',
  gatewaySchema,
);
