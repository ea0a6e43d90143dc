import type { FilterPolicyRule } from '#resources/kinds/filter-policy/filter-policy.ts';
import { type Glob, parseGlob } from '#resources/match/glob.ts';
import { firstRanked, indexRanked } from '#resources/match/ranked-index.ts';
import type { Resource } from '#resources/resource.ts';
import { compareText } from '#resources/words/order.ts';
import { filterKey } from './filter-key.ts';

/** A rule of a FilterPolicy, in the order in which rules are tried. */
export type OrderedRule = {
  readonly policy: Resource<'FilterPolicy'>;
  /** Its path in the policy, and its place among the rules. */
  readonly field: string;
  readonly index: number;
  readonly rank: number;
  readonly host: Glob;
  readonly path: Glob;
  readonly filters: FilterPolicyRule['filters'];
  /** Whether a filter decides. */
  readonly closes: boolean;
  /** The Filter that alone decides about every request. */
  readonly decides: string | undefined;
};

/** Returns all rules in the order in which they are tried. */
export function orderedRules(
  policies: readonly Resource<'FilterPolicy'>[],
): readonly OrderedRule[] {
  const sorted = [...policies].sort(
    (a, b) =>
      b.spec.precedence - a.spec.precedence ||
      compareText(a.namespace, b.namespace) ||
      compareText(a.name, b.name),
  );
  const each = sorted.flatMap(policy =>
    policy.spec.rules.map((rule, index) => ({ policy, rule, index })),
  );
  return each.map(({ policy, rule, index }, rank) => ({
    ...{ policy, index, rank, field: `spec.rules[${index}]` },
    host: parseGlob(rule.host),
    path: parseGlob(rule.path),
    filters: rule.filters,
    closes: rule.filters.length > 0,
    decides: onlyFilter(rule, policy.namespace),
  }));
}

function onlyFilter({ filters }: FilterPolicyRule, own: string): string | undefined {
  const [only, ...others] = filters;
  if (only === undefined || only.ifRequestHeader !== undefined || others.length > 0)
    return undefined;
  return filterKey(only.namespace ?? own, only.name);
}

/** Finds the rule that a request matches. */
export type FindRule = (host: string, path: string) => OrderedRule | undefined;

/** Looks rules, which are in their order, up by what their hosts and paths begin or end with. */
export function ruleFinder(rules: readonly OrderedRule[]): FindRule {
  const index = indexRanked(rules);
  return (host, path) => firstRanked(index, host, path);
}

/** Names a rule in a message. */
export function ruleText({ field, policy }: OrderedRule): string {
  return `${field} of FilterPolicy ${policy.namespace}/${policy.name}`;
}
