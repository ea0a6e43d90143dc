import { EDGE } from '#controlplane/compile/node-groups.ts';
import { problemOf } from '#controlplane/compile/problem-of.ts';
import type { Problem } from '#resources/problem.ts';
import type { Resource } from '#resources/resource.ts';
import { pushTo } from '#resources/words/push-to.ts';
import { nearest } from '#resources/words/suggest.ts';

export type GroupFacts = {
  /** The resources in force. */
  readonly resources: readonly Resource[];
  /** The node groups of the proxies that are connected. */
  readonly connected: ReadonlySet<string>;
  /** Whether other control planes may have the proxies of a group. */
  readonly replicated: boolean;
};

/** Since when a node group has configuration and no proxy, in ms since 1970. */
export type LonelyGroups = ReadonlyMap<string, number>;

/** A group that lacks a proxy for this time, in ms, is told. Proxies come one by one. */
const LASTS_MS = 10_000;

const MOST_TOLD = 20;

/** Returns the node groups that have configuration and no proxy, while there are proxies. */
export function lonelyGroups(before: LonelyGroups, facts: GroupFacts, now: number): LonelyGroups {
  const { connected } = facts;
  if (connected.size === 0) return new Map();
  const lonely = [...configured(facts).keys()].filter(group => !connected.has(group));
  return new Map(lonely.map(group => [group, before.get(group) ?? now]));
}

/** Returns a Problem for each, at the first resource that names it. */
export function lonelyGroupProblems(
  lonely: LonelyGroups,
  facts: GroupFacts,
  now: number,
): readonly Problem[] {
  const { connected, replicated } = facts;
  const old = [...lonely].filter(([, since]) => now - since >= LASTS_MS);
  if (old.length === 0) return [];
  const resources = configured(facts);
  return old
    .flatMap(([group, since]) => {
      const [first, ...others] = resources.get(group) ?? [];
      const meant = meantBy(group, connected);
      if (first === undefined) return [];
      if (replicated && lettersOf(group) !== lettersOf(meant ?? '')) return [];
      const message = describe(group, meant, others.length);
      const problem = problemOf(first, 'warning', 'spec.node_group', message);
      return [{ ...problem, since: new Date(since).toISOString() }];
    })
    .slice(0, MOST_TOLD);
}

/**
 * Groups of instances are told apart by their numbers, so none of them is a mistake for another.
 */
function meantBy(group: string, connected: ReadonlySet<string>): string | undefined {
  const withoutNumbers = (name: string) => name.replace(/\d+/g, '');
  const others = [...connected].filter(each => withoutNumbers(each) !== withoutNumbers(group));
  return nearest(group, others);
}

/** Two names with the same letters are hardly both meant, wherever their proxies are connected. */
function lettersOf(name: string): string {
  return [...name].sort().join('');
}

function describe(group: string, meant: string | undefined, others: number): string {
  const hint = meant === undefined ? '' : `, did you mean "${meant}"?`;
  const more = others === 0 ? '' : ` The same for ${others} more.`;
  const begin = `no proxy of node group "${group}" is connected, so nothing runs this${hint}`;
  return `${begin}${hint === '' ? '.' : ''}${more} Correct \`node_group\`, or start a proxy with what \`gateway bootstrap ${group}\` prints`;
}

/** The edge is the default, so its name is never a mistake. */
function configured({ resources }: GroupFacts): ReadonlyMap<string, readonly Resource[]> {
  const groups = new Map<string, Resource[]>();
  for (const resource of resources) {
    if (resource.kind !== 'Mapping' && resource.kind !== 'ProxyConfig') continue;
    const group = resource.spec.node_group;
    if (group !== EDGE) pushTo(groups, group, resource);
  }
  return groups;
}
