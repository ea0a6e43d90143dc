import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import { firstRule } from '#ext-authz/policy/policy.ts';
import { pathForms } from '#ext-authz/policy/rule-path.ts';
import { comparedHost } from '#resources/match/filter-policy-match.ts';
import { matchGlob, parseGlob } from '#resources/match/glob.ts';
import type { FiltersInForce, OperatorRule } from './explained-filters-config.ts';
import { type Place, placeOf } from './place.ts';

/** A rule of a FilterPolicy. `host` and `path` are globs. */
export type ExplainedRule = Place & {
  readonly field: string;
  readonly precedence: number;
  readonly host: string;
  readonly path: string;
  /** What a FilterPolicy with `targetRefs` is for here: `HTTPRoute/shop/api`. */
  readonly target?: string;
};

/** A rule that does not match, and why. */
export type MissedRule = ExplainedRule & { readonly reason: string };

/** A form of the path that an upstream may read, and the rule that it matches. */
export type PathReading = { readonly path: string; readonly rule?: ExplainedRule };

type Places = ReadonlyMap<string, Place>;
type Asked = Pick<HttpRequest, 'authority' | 'target'>;

export function explainRule(
  { rule, policy, index, listener, target }: OperatorRule,
  places: Places,
): ExplainedRule {
  const { host, path } = rule;
  const { precedence } = policy.spec;
  const at = { ...placeOf(places, policy.id), precedence, host, path };
  if (listener !== undefined) return { ...at, field: `the listener ${listener}` };
  if (target === undefined) return { ...at, field: `spec.rules[${index}]` };
  const { kind, name, sectionName } = target;
  const section = sectionName === undefined ? '' : `/${sectionName}`;
  return { ...at, field: `spec.targetRefs[${index}]`, target: `${kind}/${name}${section}` };
}

/** Returns the rules that do not match, each with the reason. */
export function missedRules(
  rules: readonly OperatorRule[],
  { authority, target }: Asked,
  places: Places,
): readonly MissedRule[] {
  const host = comparedHost(authority);
  const [path = '/'] = pathForms(target);
  return rules.map(operator => {
    const { rule } = operator;
    const reason = matchGlob(parseGlob(rule.host), host)
      ? `the path is ${path}, not ${rule.path}`
      : `the host is ${host}, not ${rule.host}`;
    return { ...explainRule(operator, places), reason };
  });
}

/** Returns the rule that each form of the path matches. */
export function explainReadings(
  { authority, target }: Asked,
  { active, rules }: Pick<FiltersInForce, 'active' | 'rules'>,
  places: Places,
): readonly PathReading[] {
  const host = comparedHost(authority);
  return pathForms(target).map(path => {
    const met = firstRule(active.index, host, path);
    const operator = rules.find(({ rule }) => rule === met);
    return { path, ...(operator !== undefined && { rule: explainRule(operator, places) }) };
  });
}
