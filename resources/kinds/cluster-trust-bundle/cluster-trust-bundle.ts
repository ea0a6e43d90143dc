import * as z from 'zod';
import { ambientKind } from '../gateway-api/ambient-kind.ts';

const schema = z.object({
  trustBundle: z.string().describe('Certificates of authorities, in PEM'),
});

/** A ClusterTrustBundle of Kubernetes. Its signer tells nothing of what it may be trusted for. */
export const clusterTrustBundle = ambientKind({
  summary: 'A ClusterTrustBundle of Kubernetes, with authorities that TLS trusts.',
  schema,
  scope: 'Cluster',
  fieldsAt: 'spec',
});
