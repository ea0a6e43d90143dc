import * as z from 'zod';
import { textUpTo } from '../gateway-api/bounded.ts';
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
  description: textUpTo(64).exactOptional().describe('For people'),
  parametersRef: objectRef.exactOptional().describe('A ProxyConfig, of which `deployment` is read'),
});

export const gatewayClass = gatewayApiKind(
  'Which controller serves the Gateways of a class.',
  schema,
  'Cluster',
);
