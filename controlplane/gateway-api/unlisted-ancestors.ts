import { problemOf } from '#controlplane/compile/problem-of.ts';
import type { Problem } from '#resources/problem.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import type { Stated } from './gateway-statuses.ts';

/** The status of a policy lists so many. Source: Gateway API's comment of `PolicyStatus`. */
export const MOST_ANCESTORS = 16;

/**
 * Returns warnings of policies with more ancestors than their statuses have room for. The API wants
 * such a policy to be in force for none of the others. It is in force for all of them here, as a
 * login would otherwise be missing.
 */
export function unlistedAncestors(
  { backendTlsPolicies, filterPolicies, rateLimits }: ResourceSet,
  statuses: Stated['statuses'],
): readonly Problem[] {
  const byId = new Map(statuses);
  return [...backendTlsPolicies, ...filterPolicies, ...rateLimits].flatMap(policy => {
    const status = byId.get(policy.id);
    const count = status?.kind === 'Policy' ? status.ancestors.length : 0;
    if (count <= MOST_ANCESTORS) return [];
    const message = `its status has room for ${MOST_ANCESTORS} ancestors, and it has ${count}. What it does for the others is not told there`;
    return [problemOf(policy, 'warning', 'spec.targetRefs', message)];
  });
}
