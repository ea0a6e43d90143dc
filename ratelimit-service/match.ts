import type { Label } from '#resources/labels/label-pattern.ts';
import type { Limit } from './limit.ts';
import type { LimitIndex, PatternNode } from './limits-index.ts';

const NONE: readonly Limit[] = [];

/**
 * A node that the labels read so far lead to, and how well they matched it: per label 0 for its
 * value, 1 for the key alone.
 */
type Reached = { readonly node: PatternNode; readonly looseness: string };

/**
 * The limits that apply to a label group: all those that have the winning pattern. Of the patterns
 * that match, the longest wins; then the one with more exact values, compared from the left; then
 * as `comparePatterns` says. None matches, or the domain is unknown: empty. The cost depends on the
 * length of the group and on how many different patterns match its first labels, not on how many
 * limits there are. Source: docs/explanation/how-a-limit-is-counted.md.
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

function step(reached: readonly Reached[], { key, value }: Label): readonly Reached[] {
  const next: Reached[] = [];
  for (const { node, looseness } of reached) {
    const branches = node.next.get(key);
    if (branches === undefined) continue;
    const exact = branches.exact.get(value);
    if (exact !== undefined)
      for (const node of exact) next.push({ node, looseness: `${looseness}0` });
    for (const node of branches.any) {
      if (!exact?.has(node)) next.push({ node, looseness: `${looseness}1` });
    }
  }
  return next;
}

/** Of the patterns that end here, which all have one length; undefined when none does. */
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
