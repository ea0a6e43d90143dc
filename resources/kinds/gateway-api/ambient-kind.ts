import type * as z from 'zod';
import type { KindDefinition } from '#resources/schema/kind.ts';

/**
 * Returns the definition of a kind of Kubernetes itself that Gateway API refers to. It stands in
 * folders of manifests for other reasons, so a mistake in it is no Problem: it is not read.
 */
export function ambientKind<Schema extends z.ZodObject>(
  definition: Omit<KindDefinition<Schema>, 'unknownField' | 'ambient'>,
): KindDefinition<Schema> {
  return { ...definition, unknownField: 'warning', ambient: true };
}
