import type { Memo } from '#controlplane/compile/memo.ts';
import type { Rejected } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import type { AnyRoute } from './route-rules.ts';

/**
 * Returns what is left of rejected routes. Nothing answers for their requests, so these get 500 and
 * do not fall through to a wider route. An older route of the same match still goes before it. The
 * result of one stays the same object.
 */
export function closedRoutes({ closed }: ResourceSet, memo: Memo): readonly AnyRoute[] {
  return closed.flatMap(rejected => {
    const { route } = rejected;
    return route === undefined
      ? []
      : [memo.of(rejected, 'closed route', [], () => toRoute(rejected, route))];
  });
}

function toRoute(
  { namespace, name, id, source, created }: Rejected,
  { kind, spec }: NonNullable<Rejected['route']>,
): AnyRoute {
  const age = created === undefined ? {} : { metadata: { created } };
  // The kind of a closed route says what its spec is.
  return { kind, spec, namespace, name, id, source, hash: id, ...age } as AnyRoute;
}
