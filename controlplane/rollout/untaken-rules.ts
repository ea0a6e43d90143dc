import { uncoveredPart } from '#resources/parse/uncovered-part.ts';
import type { Rejected, ResourcesById } from '#resources/resource.ts';
import { closedResource } from './problems.ts';

/** What proxies get while ext-authz does not have the newest rules. */
export type Untaken = {
  /** With the FilterPolicies that ext-authz has in place of the newest. */
  readonly resources: ResourcesById;
  /** What the newest cover beyond these. */
  readonly closed: readonly Rejected[];
};

const REASON =
  'ext-authz does not have this version yet. See whether it runs and reaches the control plane. Until then';

/**
 * Returns what proxies may go by when ext-authz has the FilterPolicies of `taken` and answers by
 * them. A path that it has no rule for would be open. A policy that is gone stays gone.
 * @returns undefined when it has all of them
 */
export function withoutUntaken(
  resources: ResourcesById,
  taken: ResourcesById,
): Untaken | undefined {
  const policies = [...resources.values()].filter(
    ({ hash, id, kind }) => kind === 'FilterPolicy' && taken.get(id)?.hash !== hash,
  );
  if (policies.length === 0) return undefined;
  const known = new Map(resources);
  for (const { id } of policies) {
    const older = taken.get(id);
    if (older === undefined) known.delete(id);
    else known.set(id, older);
  }
  const closed = policies.flatMap(policy => {
    const older = taken.get(policy.id);
    const part = older === undefined ? closedResource(policy) : uncoveredPart(policy, older);
    return part === undefined ? [] : [{ ...part, reason: REASON }];
  });
  return { resources: known, closed };
}
