import type { ClosedRule } from '#ext-authz/chain/active-rules.ts';
import type { Problem } from '#resources/problem.ts';
import type { OperatorRule } from './explained-filters-config.ts';

/**
 * Returns why a rule is closed: the errors of the Filters that it names, and of the Filter that
 * closes it. Never empty.
 */
export function closedReasons(
  { policy, index, target }: Pick<OperatorRule, 'policy' | 'index' | 'target'>,
  { filter }: Pick<ClosedRule, 'filter'>,
  problems: readonly Problem[],
): readonly string[] {
  const errors = problems.filter(({ severity }) => severity === 'error');
  const ofRule = errors.filter(
    ({ field, kind, name, namespace }) =>
      kind === 'FilterPolicy' &&
      namespace === policy.namespace &&
      name === policy.name &&
      field?.startsWith(target === undefined ? `spec.rules[${index}].` : 'spec.filters['),
  );
  const ofFilter = errors.filter(
    ({ kind, name, namespace }) => kind === 'Filter' && `${namespace}/${name}` === filter,
  );
  const reasons = [...ofRule, ...ofFilter].map(problemText);
  return reasons.length > 0 ? reasons : [`the Filter ${filter} is missing or cannot run`];
}

function problemText({ kind, namespace, name, field, message }: Problem): string {
  const place = kind === 'Filter' ? `Filter ${namespace}/${name}: ` : '';
  return field === undefined ? place + message : `${place}${field}: ${message}`;
}
