import { FILTER, FILTER_POLICY } from '#protos/type-url.ts';
import type { Problem } from '#resources/problem.ts';
import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import type { Compiled, CompiledResource } from './compiled.ts';
import { toFilterMessage } from './ext-authz-filter-message.ts';
import { filterKey, type ServedFilter, servedFilters } from './ext-authz-filters.ts';
import { toFilterPolicyMessage } from './ext-authz-policy-message.ts';
import type { Memo } from './memo.ts';
import { EXT_AUTHZ, ofNodeGroup } from './node-groups.ts';
import { compareText } from './order.ts';
import { problemOf } from './problem-of.ts';

/**
 * What the service that runs filters receives: a message for each Filter that can be in force, its secret in it, and for each FilterPolicy. What did
 * not change gives the very same object. What is wrong with them is said at the edge.
 */
export function extAuthzMessages(resources: ResourceSet, memo: Memo): Compiled {
  const filters = [...servedFilters(resources).byName].map(([name, served]) =>
    filterMessage(name, served, memo),
  );
  const policies = resources.filterPolicies.map(policy => policyMessage(policy, memo));
  return {
    resources: new Map([
      [FILTER, sorted(filters)],
      [FILTER_POLICY, sorted(policies)],
    ]),
    problems: misplacedProblems(resources),
  };
}

/** The secret is the very same object while its Secret is; cutting it makes a new one, so that its owner is asked. */
function filterMessage(name: string, served: ServedFilter, memo: Memo): CompiledResource {
  const { filter, secret } = served;
  const bytes = secret === undefined ? '' : Buffer.from(secret.secret.reveal()).toString('base64');
  const json = memo.of(filter.spec, 'filter message', [name, bytes], () => toFilterMessage(served));
  return { name, json, origins: [filter.id] };
}

function policyMessage(policy: Resource<'FilterPolicy'>, memo: Memo): CompiledResource {
  const name = filterKey(policy.namespace, policy.name);
  const json = memo.of(policy.spec, 'policy message', [name], () => toFilterPolicyMessage(policy));
  return { name, json, origins: [policy.id] };
}

function sorted(messages: readonly CompiledResource[]): readonly CompiledResource[] {
  return [...messages].sort((a, b) => compareText(a.name, b.name));
}

/** The group is no proxies': a Mapping or ProxyConfig for it is served by nobody. */
function misplacedProblems(resources: ResourceSet): readonly Problem[] {
  const { mappings, proxyConfigs } = ofNodeGroup(resources, EXT_AUTHZ);
  return [...mappings, ...proxyConfigs].map(resource =>
    problemOf(
      resource,
      'error',
      'spec.node_group',
      `${EXT_AUTHZ} is the gateway's own service that runs filters, not a node group of proxies: nothing serves this ${resource.kind}; name another node_group`,
    ),
  );
}
