import type { Problem } from '#resources/problem.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { problemOf } from '../problem-of.ts';
import { resolveServiceContext, serviceContexts } from './service-context.ts';

/**
 * Returns Problems of TLSContexts that Mappings of any node group name, and of unused ones.
 * `usedByHosts` are ids.
 */
export function contextProblems(
  resources: ResourceSet,
  usedByHosts: ReadonlySet<string>,
): readonly Problem[] {
  const { secrets, tlsContexts } = resources;
  if (tlsContexts.length === 0) return [];
  const named = serviceContexts(resources);
  const used = new Set([...usedByHosts, ...named.map(({ id }) => id)]);
  const broken = named.flatMap(context => {
    const found = resolveServiceContext(context, secrets);
    return 'problems' in found ? found.problems : [];
  });
  return [...broken, ...tlsContexts.filter(({ id }) => !used.has(id)).map(unused)];
}

function unused(context: ResourceSet['tlsContexts'][number]): Problem {
  const message =
    'no Host and no Mapping uses it, so it has no effect: name it in the `tlsContext` of a Host or the `tls` of a Mapping, or list in `hosts` the hostname of a Host that has neither `tls` nor another TLSContext';
  return problemOf(context, 'warning', 'spec', message);
}
