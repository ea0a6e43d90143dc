import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import { comparedHost } from '#resources/match/filter-policy-match.ts';
import { type Glob, parseGlob } from '#resources/match/glob.ts';
import { firstRanked, indexRanked, type RankedIndex } from '#resources/match/ranked-index.ts';
import { compareText } from '#resources/words/order.ts';
import type { Rule } from './rule.ts';
import { pathForms } from './rule-path.ts';

/** The rules of one FilterPolicy. */
export type Policy = {
  readonly namespace: string;
  readonly name: string;
  readonly precedence: number;
  readonly rules: readonly Rule[];
  /** Present where it has the rules from before it hold, too. */
  readonly earlierRules?: true;
};

/** All rules, ready for lookup. */
export type PolicyIndex = RankedIndex<Entry>;

/** A rule and its place among all. */
type Entry = {
  readonly rule: Rule;
  readonly host: Glob;
  readonly path: Glob;
  readonly rank: number;
};

/** The result for a request: a rule, none, or two rules by two readings of its path. */
export type Selected = { readonly rule: Rule | undefined } | { readonly ambiguous: true };

/**
 * Returns the rules in the order in which they are tried: higher precedence first, then namespace
 * and name, then as written.
 */
export function orderedRules(policies: readonly Policy[]): readonly Rule[] {
  return [...policies].sort(comparePolicies).flatMap(({ rules }) => rules);
}

function comparePolicies(a: Policy, b: Policy): number {
  return (
    b.precedence - a.precedence ||
    compareText(a.namespace, b.namespace) ||
    compareText(a.name, b.name)
  );
}

/** Indexes the rules, which are in their order. */
export function indexRules(rules: readonly Rule[]): PolicyIndex {
  return indexRanked(
    rules.map((rule, rank) => ({
      rule,
      host: parseGlob(rule.host),
      path: parseGlob(rule.path),
      rank,
    })),
  );
}

/**
 * Returns the first rule whose host and path match. The host is compared without port, letter case
 * and trailing dot, and the path without query. Every form of the path that an upstream may read
 * must select the same rule, else the request is ambiguous. See docs/adr/0011-ext-authz.md.
 */
export function selectRule(
  index: PolicyIndex,
  { authority, target }: Pick<HttpRequest, 'authority' | 'target'>,
): Selected {
  const host = comparedHost(authority);
  const [path = '/', ...forms] = pathForms(target);
  const rule = firstRule(index, host, path);
  return forms.some(form => firstRule(index, host, form) !== rule) ? { ambiguous: true } : { rule };
}

/** Returns the first rule in order that matches host and path. */
export function firstRule(index: PolicyIndex, host: string, path: string): Rule | undefined {
  return firstRanked(index, host, path)?.rule;
}
