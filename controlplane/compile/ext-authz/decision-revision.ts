import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { hashSpec } from '#resources/words/hash.ts';
import { byName } from '#resources/words/order.ts';
import type { Memo } from '../memo.ts';
import { filterKey } from './filter-key.ts';

/** Returns whether proxies may remember what a Filter decides about sessions. */
export function remembersDecisions({ spec: { OAuth2 } }: Resource<'Filter'>): boolean {
  return OAuth2?.decisionCache !== undefined && OAuth2.grantType === 'AuthorizationCode';
}

/**
 * Returns a name for all Filters and FilterPolicies in force, without their secrets. The Filter
 * service tells proxies by which one it decided, and a proxy remembers nothing of another. So no
 * route repeats a decision for paths that have another rule by now.
 * @returns an empty text when no Filter has a `decisionCache`
 */
export function decisionRevision(
  { filters, filterPolicies }: Pick<ResourceSet, 'filters' | 'filterPolicies'>,
  memo: Memo,
): string {
  if (!filters.some(remembersDecisions)) return '';
  return memo.of(memo, 'decision revision', [...filters, ...filterPolicies], () =>
    hashSpec([byName(filters.map(withoutSecret)), byName(filterPolicies.map(named))]).slice(0, 16),
  );
}

/** The revision is shown, so no secret is in it. */
function withoutSecret(filter: Resource<'Filter'>) {
  const { OAuth2, ...spec } = filter.spec;
  const { secret: _, ...shown } = OAuth2 ?? {};
  return { ...named(filter), spec: { ...spec, OAuth2: shown } };
}

function named({ name, namespace, spec }: Resource<'Filter'> | Resource<'FilterPolicy'>) {
  return { name: filterKey(namespace, name), spec };
}
