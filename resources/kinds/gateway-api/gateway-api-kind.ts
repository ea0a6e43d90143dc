import type * as z from 'zod';
import type { KindDefinition } from '#resources/schema/kind.ts';

/**
 * Returns the definition of a kind of Gateway API. An unknown field is a warning, because the
 * definitions of the API drop it.
 */
export function gatewayApiKind<Schema extends z.ZodObject>(
  summary: string,
  schema: Schema,
  scope: 'Namespaced' | 'Cluster' = 'Namespaced',
): KindDefinition<Schema> {
  return {
    summary,
    schema,
    scope,
    fieldsAt: 'spec',
    unknownField: 'warning',
    metadata: ['generation', 'created', 'labels'],
  };
}
