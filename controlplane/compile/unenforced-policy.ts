import type { Problem } from '#resources/problem.ts';
import type { Refused, Resource } from '#resources/resource.ts';

type Policy = Resource<'FilterPolicy'>;

/** The rules of a policy that have filters, as if it was refused: no service runs filters yet, so what they cover is closed. */
export function closedUntilEnforced({ kind, namespace, name, id, source, spec }: Policy): Refused {
  const rules = spec.rules.filter(({ filters }) => filters.length > 0);
  return { kind, namespace, name, id, source, rules: rules.map(({ host, path }) => ({ host, path })) };
}

/** Says so. */
export function unenforcedProblem({ kind, namespace, name, source }: Policy): Problem {
  const message = 'filters are not run yet; what the rules of this policy cover is answered 500';
  return { severity: 'error', kind, namespace, name, ...source, message };
}
