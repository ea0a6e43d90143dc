import type { RuleHeaders } from '#ext-authz/http/filter-decision.ts';
import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import type { Definitions } from '#ext-authz/policy/filter-settings.ts';
import { indexRules, type PolicyIndex, type Selected } from '#ext-authz/policy/policy.ts';
import type { Rule, RuleItem } from '#ext-authz/policy/rule.ts';
import { rememberedSelection } from '#ext-authz/policy/rule-selection.ts';
import type { RunnableFilter } from './filter-runner.ts';
import { ruleHeaders } from './final-change.ts';

/**
 * A rule that answers 500 because this Filter is missing, cannot run, or cannot do what the rule
 * asks of it.
 */
export type ClosedRule = { readonly rule: Rule; readonly filter: string };

type Asked = Pick<HttpRequest, 'authority' | 'beforeRoute' | 'routeRule' | 'target'>;

/** The rules in force, with what their filters need. */
export type ActiveRules = {
  readonly index: PolicyIndex;
  /**
   * Selects as `selectRule` does, by the index. Where the request's route names Filters, they come
   * first, and then those of the rule by host and path. Before the route is chosen, those of the
   * listener are alone.
   */
  readonly select: (request: Asked) => Selected;
  /** Selects by host and path alone. */
  readonly selectByPath: (request: Asked) => Selected;
  readonly filters: ReadonlyMap<string, RunnableFilter>;
  /** For every rule that has filters and is not closed. */
  readonly headers: ReadonlyMap<Rule, RuleHeaders>;
  readonly closed: ReadonlyMap<Rule, ClosedRule>;
};

/**
 * Activates rules. A rule that refers to a Filter that cannot run is closed as a whole. What that
 * Filter would inject is unknown, so it could not be removed from what the client sends. See
 * docs/adr/0002-closed-or-last-good.md.
 */
export function activateRules(
  rules: readonly Rule[],
  definitions: Definitions,
  runnable: ReadonlyMap<string, RunnableFilter>,
): ActiveRules {
  const filters = new Map(
    [...runnable].filter(([name]) => delegateRuns(name, definitions, runnable)),
  );
  const headers = new Map<Rule, RuleHeaders>();
  const closed = new Map<Rule, ClosedRule>();
  const settle = (rule: Rule) => {
    const names = rule.items.flatMap(namedBy);
    const broken =
      names.find(name => !filters.has(name)) ??
      rule.items.find(item => isBroken(item, definitions))?.filter;
    if (broken !== undefined) closed.set(rule, { rule, filter: broken });
    else if (names.length > 0)
      headers.set(rule, {
        ...ruleHeaders(withDelegates(names, definitions, filters)),
        ...rememberedAs(rule, definitions),
      });
  };
  for (const rule of rules) settle(rule);
  const index = indexRules(rules.filter(({ routeRule }) => routeRule === undefined));
  const joined = joiner(rules, settle);
  const byPath = rememberedSelection(index);
  const select = (request: Asked): Selected => {
    if (request.beforeRoute) return { rule: joined(request.routeRule ?? '', undefined) };
    const selected = byPath(request);
    if (request.routeRule === undefined || 'ambiguous' in selected) return selected;
    return { rule: joined(request.routeRule, selected.rule) };
  };
  return { index, select, selectByPath: byPath, filters, headers, closed };
}

/**
 * Returns what joins the filters of a route's rule with those of a rule by host and path. A filter
 * of the route never skips the rest. A route's rule that is not known is closed, by a filter that
 * cannot be in force. `settle` is called once with each joined rule.
 */
function joiner(
  rules: readonly Rule[],
  settle: (rule: Rule) => void,
): (routeRule: string, other: Rule | undefined) => Rule {
  const known = new Map(
    rules.flatMap(rule => (rule.routeRule === undefined ? [] : [[rule.routeRule, rule] as const])),
  );
  const joined = new Map<Rule | undefined, Map<string, Rule>>();
  return (routeRule, other) => {
    const same = joined.get(other) ?? new Map<string, Rule>();
    joined.set(other, same);
    const found = same.get(routeRule);
    if (found !== undefined) return found;
    const own = known.get(routeRule) ?? unknownRule(routeRule);
    const items = own.items.map(item => ({ ...item, ...EVERY_ONE }));
    const rule = { ...own, items: [...items, ...(other?.items ?? [])] };
    same.set(routeRule, rule);
    settle(rule);
    return rule;
  };
}

/**
 * Only a rule of one login Filter that runs on every request decides by the session alone. The
 * name is what the control plane gives the routes that lie wholly under this rule.
 */
function rememberedAs(
  { id, items, routeRule }: Rule,
  definitions: Definitions,
): Pick<RuleHeaders, 'rememberedAs'> {
  const [only, ...others] = items;
  if (only?.always !== true || others.length > 0 || routeRule !== undefined) return {};
  const definition = definitions.get(only.filter);
  if (definition?.type !== 'OAuth2') return {};
  const { decisionCache, grantType } = definition.settings;
  if (decisionCache === undefined || grantType !== 'AuthorizationCode') return {};
  return { rememberedAs: `${decisionCache.revision} ${id}` };
}

const EVERY_ONE = { onDeny: 'break', onAllow: 'continue' } as const;

function unknownRule(routeRule: string): Rule {
  const missing: RuleItem = {
    filter: '',
    applies: () => true,
    onDeny: 'break',
    onAllow: 'continue',
    arguments: { scope: undefined, insteadOfRedirect: undefined, sameSite: undefined },
  };
  return { id: routeRule, host: '*', path: '*', routeRule, items: [missing] };
}

function namedBy({ filter, arguments: { insteadOfRedirect } }: RuleItem): readonly string[] {
  return [filter, ...(insteadOfRedirect?.items ?? []).flatMap(namedBy)];
}

/**
 * A filter that would redirect cannot decide instead of a redirect. Browsers reject cookies with
 * `SameSite=None` over http.
 */
function isBroken({ filter, arguments: given }: RuleItem, definitions: Definitions): boolean {
  const definition = definitions.get(filter);
  if (definition?.type !== 'OAuth2') return false;
  const { protectedOrigins } = definition.settings;
  const open = protectedOrigins.some(({ origin }) => origin.scheme === 'http');
  const inner = given.insteadOfRedirect?.items ?? [];
  return (given.sameSite === 'none' && open) || inner.some(item => mayRedirect(item, definitions));
}

function mayRedirect({ filter }: RuleItem, definitions: Definitions): boolean {
  const definition = definitions.get(filter);
  return definition?.type === 'OAuth2' && definition.settings.grantType === 'AuthorizationCode';
}

/** Returns the JWT filter to which an OAuth2 filter leaves the validation of access tokens. */
function delegateOf(name: string, definitions: Definitions): string | undefined {
  const definition = definitions.get(name);
  return definition?.type === 'OAuth2'
    ? definition.settings.accessTokenJWTFilter?.filter
    : undefined;
}

function delegateRuns(
  name: string,
  definitions: Definitions,
  runnable: ReadonlyMap<string, RunnableFilter>,
): boolean {
  const delegate = delegateOf(name, definitions);
  return delegate === undefined || runnable.get(delegate)?.type === 'JWT';
}

function withDelegates(
  names: readonly string[],
  definitions: Definitions,
  filters: ReadonlyMap<string, RunnableFilter>,
): readonly RunnableFilter[] {
  const all = new Set(names.flatMap(name => [name, delegateOf(name, definitions) ?? name]));
  return [...all].flatMap(name => filters.get(name) ?? []);
}
