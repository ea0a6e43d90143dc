import { commonText, genericText } from '#resources/match/glob-relation.ts';
import { meetingIndex } from '#resources/match/start-index.ts';
import type { Problem } from '#resources/problem.ts';
import { problemOf } from '../problem-of.ts';
import { type FindRule, type OrderedRule, ruleText } from './rule-order.ts';

/**
 * Returns a warning for each rule that never matches, and for each that opens what another policy
 * closes.
 */
export function ruleConflicts(rules: readonly OrderedRule[], find: FindRule): readonly Problem[] {
  const closing = meeting(rules.filter(({ closes }) => closes));
  return rules.flatMap(rule => {
    const earlier = find(genericText(rule.host), genericText(rule.path));
    if (earlier !== undefined && earlier !== rule) return [neverMatches(rule, earlier)];
    return rule.closes ? [] : opens(rule, closing(rule), find);
  });
}

/** Returns what finds the rules that may match a request of another one, in their order. */
function meeting(rules: readonly OrderedRule[]): (rule: OrderedRule) => readonly OrderedRule[] {
  const byHost = [...Map.groupBy(rules, ({ host }) => genericText(host)).values()];
  const around = meetingIndex(
    byHost.flatMap(([first, ...others]) => {
      if (first === undefined) return [];
      const around = meetingIndex([first, ...others], ({ path }) => path);
      return [{ host: first.host, around }];
    }),
    ({ host }) => host,
  );
  return ({ host, path }) =>
    [...around(host)].flatMap(each => [...each.around(path)]).sort((a, b) => a.rank - b.rank);
}

function neverMatches(rule: OrderedRule, earlier: OrderedRule): Problem {
  const message = `it never matches: ${ruleText(earlier)} is tried before and covers it`;
  return problemOf(rule.policy, 'warning', rule.field, message);
}

/**
 * Within one policy, or by a higher precedence, the operator chose the order. A name says nothing.
 */
function opens(
  rule: OrderedRule,
  closing: readonly OrderedRule[],
  find: FindRule,
): readonly Problem[] {
  for (const other of closing) {
    if (other.rank < rule.rank || other.policy === rule.policy) continue;
    if (other.policy.spec.precedence !== rule.policy.spec.precedence) continue;
    const [host, path] = [commonText(rule.host, other.host), commonText(rule.path, other.path)];
    if (host === undefined || path === undefined || find(host, path) !== rule) continue;
    const message = `it opens \`${path || '/'}\`, which ${ruleText(other)} closes: it goes before by its name alone. Put both into one policy, or give one a higher \`precedence\``;
    return [problemOf(rule.policy, 'warning', rule.field, message)];
  }
  return [];
}
