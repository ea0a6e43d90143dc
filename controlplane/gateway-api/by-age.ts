import type { Resource } from '#resources/resource.ts';
import { compareText } from '#resources/words/order.ts';

/**
 * Compares by the precedence of Gateway API: the older object first, then by namespace and name.
 * What has no time of creation, as in folders, comes before what has one.
 */
export function byAge(
  a: Pick<Resource, 'metadata' | 'namespace' | 'name' | 'id'>,
  b: Pick<Resource, 'metadata' | 'namespace' | 'name' | 'id'>,
): number {
  return (
    compareText(a.metadata?.created ?? '', b.metadata?.created ?? '') ||
    compareText(`${a.namespace}/${a.name}`, `${b.namespace}/${b.name}`) ||
    compareText(a.id, b.id)
  );
}
