import { EDGE, EXT_AUTHZ, RATELIMIT_SERVICE, SDS } from '#controlplane/compile/node-groups.ts';
import { systemProblem } from '#controlplane/rollout/problems.ts';
import type { Problem } from '#resources/problem.ts';

/** When groups that were connected here left, in ms since 1970. Undefined: they are connected. */
export type AbsentGroups = ReadonlyMap<string, number | undefined>;

/** A group that is away for this time, in ms, is told. A restart takes less. */
const LASTS_MS = 10_000;

/** What follows when a group is away. Other groups may come and go as they are scaled. */
const FOLLOWS: Readonly<Record<string, string>> = {
  [EDGE]:
    'Until then edits have no effect there, and where it has ended or hangs clients get no answer',
  [EXT_AUTHZ]: 'Until then edits of Filters and FilterPolicies have no effect',
  [RATELIMIT_SERVICE]: 'Until then edits of RateLimits have no effect',
  [SDS]:
    'Until then certificates of edits are not served, and where it has ended or hangs proxies learn of no instance that comes or goes',
};

/** Returns which of these groups have been connected, and since when they are not. */
export function absentGroups(
  before: AbsentGroups,
  connected: ReadonlySet<string>,
  now: number,
): AbsentGroups {
  const known = Object.keys(FOLLOWS).filter(group => connected.has(group) || before.has(group));
  return new Map(
    known.map(group => [group, connected.has(group) ? undefined : (before.get(group) ?? now)]),
  );
}

/** Returns a Problem for each that is away for long. */
export function absentGroupProblems(absent: AbsentGroups, now: number): readonly Problem[] {
  return [...absent].flatMap(([group, since]) => {
    if (since === undefined || now - since < LASTS_MS) return [];
    const [kind, what] =
      group === EDGE ? ['Envoy', 'no proxy of this node group is'] : ['Service', 'it is not'];
    const message = `${what} connected to the control plane. Look at its log. Start it, or restart it if it hangs. ${FOLLOWS[group]}`;
    const problem = systemProblem(kind, group, message);
    return [{ ...problem, severity: 'warning', since: new Date(since).toISOString() }];
  });
}
