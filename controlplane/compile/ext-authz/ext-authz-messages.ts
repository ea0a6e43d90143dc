import { FILTER, FILTER_POLICY } from '#protos/type-url.ts';
import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { byName } from '#resources/words/order.ts';
import type { SecretValue } from '#resources/words/secret-value.ts';
import type { Compiled, CompiledResource } from '../compiled.ts';
import type { Memo } from '../memo.ts';
import { misplacedProblems } from '../misplaced-problems.ts';
import { EXT_AUTHZ } from '../node-groups.ts';
import { decisionRevision, remembersDecisions } from './decision-revision.ts';
import { filterKey } from './filter-key.ts';
import { toFilterMessage } from './filter-message.ts';
import { toFilterPolicyMessage } from './filter-policy-message.ts';
import { type ServedFilter, servedFilters } from './served-filters.ts';

/**
 * Returns what the Filter service receives: a message for each Filter that can be in force, with
 * its secret, for each FilterPolicy, and for each rule of a route that names Filters. What did not
 * change gives the very same object. Their Problems are reported at the edge.
 */
export function extAuthzMessages(
  resources: ResourceSet,
  attached: readonly CompiledResource[],
  memo: Memo,
): Compiled {
  const revision = decisionRevision(resources, memo);
  const filters = [...servedFilters(resources).byName].map(([name, served]) =>
    filterMessage(name, served, remembersDecisions(served.filter) ? revision : '', memo),
  );
  const policies = resources.filterPolicies
    .filter(({ spec }) => spec.targetRefs === undefined)
    .map(policy => policyMessage(policy, memo));
  return {
    resources: new Map([
      [FILTER, byName(filters)],
      [FILTER_POLICY, byName([...policies, ...attached])],
    ]),
    problems: misplacedProblems(resources, EXT_AUTHZ),
  };
}

/**
 * The secret is the very same object while its Secret is. Cutting it makes a new one, so the memo
 * goes by its owner.
 */
function filterMessage(
  name: string,
  served: ServedFilter,
  revision: string,
  memo: Memo,
): CompiledResource {
  const { filter, secret, authorities } = served;
  const inputs = [name, textOf(secret?.secret), textOf(authorities), revision];
  const json = memo.of(filter.spec, 'filter message', inputs, () =>
    toFilterMessage(served, revision),
  );
  return { name, json, origins: [filter.id] };
}

function textOf(secret: SecretValue | undefined): string {
  return secret === undefined ? '' : Buffer.from(secret.reveal()).toString('base64');
}

function policyMessage(policy: Resource<'FilterPolicy'>, memo: Memo): CompiledResource {
  const name = filterKey(policy.namespace, policy.name);
  const json = memo.of(policy.spec, 'policy message', [name], () => toFilterPolicyMessage(policy));
  return { name, json, origins: [policy.id] };
}
