import * as z from 'zod';
import { ambientKind } from '../gateway-api/ambient-kind.ts';

const schema = z.object({
  data: z
    .object({
      'ca.crt': z.string().exactOptional().describe('Certificates of authorities, in PEM'),
    })
    .prefault({})
    .describe('What it holds. Only authorities are read'),
});

/** A ConfigMap of Kubernetes. What others may have put in it is neither kept nor shown. */
export const configMap = ambientKind({
  summary: 'A ConfigMap of Kubernetes, with authorities that TLS trusts.',
  schema,
  fieldsAt: 'document',
});
