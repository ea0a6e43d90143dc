import * as z from 'zod';
import { ambientKind } from '../gateway-api/ambient-kind.ts';

const schema = z.object({});

/** A namespace of Kubernetes. Only its labels are read, which Gateways may select by. */
export const namespace = ambientKind({
  summary: 'A namespace of Kubernetes, whose labels a Gateway may select by.',
  schema,
  scope: 'Cluster',
  // A manifest of a namespace mostly has no spec.
  fieldsAt: 'document',
  metadata: ['labels'],
});
