import type { Label } from '#resources/labels/label-pattern.ts';
import { isTargetLabel } from '#resources/labels/target-label.ts';
import type { Limit } from './limit.ts';
import type { LimitIndex, PatternNode } from './limits-index.ts';

const NONE: readonly Limit[] = [];

/**
 * A node that the labels read so far lead to, and how well they matched it. `looseness` has a digit
 * per label: 0 for its value, 1 for the key alone.
 */
type Reached = { readonly node: PatternNode; readonly looseness: string };

/**
 * Returns the limits that apply to a label group, which are all limits of the winning pattern. Of
 * the patterns that match, the longest wins. Then the one with more exact values wins, compared
 * from the left. Then `comparePatterns` decides. The result is empty when no pattern matches or the
 * domain is unknown.
 *
 * The cost depends on the length of the group, and on how many different patterns match its first
 * labels. It does not depend on the number of limits. See
 * docs/explanation/how-a-limit-is-counted.md.
 */
export function matchGroup(
  index: LimitIndex,
  domain: string,
  group: readonly Label[],
): readonly Limit[] {
  const root = index.roots.get(domain);
  if (root === undefined) return NONE;
  let reached: readonly Reached[] = [{ node: root, looseness: '' }];
  let winner = root;
  for (const label of group) {
    reached = step(reached, label);
    if (reached.length === 0) break;
    winner = best(reached) ?? winner;
  }
  return winner.limits;
}

function step(reached: readonly Reached[], label: Label): readonly Reached[] {
  const { key, value } = label;
  const isForAny = !isTargetLabel(label);
  const next: Reached[] = [];
  for (const { node, looseness } of reached) {
    const branches = node.next.get(key);
    if (branches === undefined) continue;
    const exact = branches.exact.get(value);
    if (exact !== undefined)
      for (const node of exact) next.push({ node, looseness: `${looseness}0` });
    if (!isForAny) continue;
    for (const node of branches.any) {
      if (!exact?.has(node)) next.push({ node, looseness: `${looseness}1` });
    }
  }
  return next;
}

/**
 * Returns the best of the patterns that end here, which all have one length.
 * @returns undefined when none ends here
 */
function best(reached: readonly Reached[]): PatternNode | undefined {
  let winner: Reached | undefined;
  for (const candidate of reached) {
    if (candidate.node.limits.length > 0 && (winner === undefined || isBetter(candidate, winner)))
      winner = candidate;
  }
  return winner?.node;
}

function isBetter(a: Reached, b: Reached): boolean {
  if (a.looseness !== b.looseness) return a.looseness < b.looseness;
  return a.node.rank < b.node.rank;
}
