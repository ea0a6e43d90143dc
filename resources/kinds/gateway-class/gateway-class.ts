import * as z from 'zod';
import { gatewayApiKind } from '../gateway-api/gateway-api-kind.ts';
import { objectRef } from '../gateway-api/object-ref.ts';

const schema = z.object({
  controllerName: z
    .string()
    .min(1)
    .max(253)
    .regex(
      /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/,
    )
    .meta({ form: 'a domain and a path, such as `example.com/controller`' })
    .describe('Controller that serves its Gateways'),
  description: z
    .string()
    .max(64)
    .exactOptional()
    .meta({ form: 'a text of at most 64 characters' })
    .describe('For people'),
  parametersRef: objectRef.exactOptional().describe('A ProxyConfig, of which `deployment` is read'),
});

export const gatewayClass = gatewayApiKind(
  'Which controller serves the Gateways of a class.',
  schema,
  'Cluster',
);

export type GatewayClassSpec = z.output<typeof schema>;
