import * as z from 'zod';
import { ambientKind } from '../gateway-api/ambient-kind.ts';
import { portNumber } from '../gateway-api/names.ts';

const port = z.object({
  name: z.string().exactOptional().describe('Its name'),
  port: portNumber.describe('Port that backends of routes name'),
  protocol: z.string().default('TCP').describe('`TCP`, `UDP` or `SCTP`'),
  targetPort: z
    .union([z.int(), z.string()])
    .exactOptional()
    .meta({ form: 'a port, or the name of one' })
    .describe('Port of the instances. Default: the same'),
  appProtocol: z.string().exactOptional().describe('What its instances speak'),
});

const schema = z.object({
  type: z.string().default('ClusterIP').describe('How Kubernetes publishes it'),
  clusterIP: z.string().exactOptional().describe('Its address. `None` for a headless Service'),
  externalName: z.string().exactOptional().describe('Name that it stands for (`ExternalName`)'),
  ports: z.array(port).default([]).describe('Its ports'),
});

export const service = ambientKind({
  summary: 'A Service of Kubernetes, which routes of Gateway API send requests to.',
  schema,
  fieldsAt: 'spec',
});
export type ServicePortSpec = z.output<typeof port>;
