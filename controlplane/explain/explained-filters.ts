import { GATEWAY_PATHS } from '#controlplane/compile/ext-authz/ext-authz-filter.ts';
import { withoutInjected } from '#ext-authz/chain/final-change.ts';
import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import { type Selected, selectRule } from '#ext-authz/policy/policy.ts';
import type { Rule } from '#ext-authz/policy/rule.ts';
import type { Problem } from '#resources/problem.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { routeRuleIn, stagesBefore } from './asked-rules.ts';
import { type AskedService, explainAsked, isOff, isPublicRoute } from './asked-service.ts';
import type { EnvoyRequest } from './envoy-request.ts';
import { type ExplainedDecisionCache, explainDecisionCache } from './explained-decision-cache.ts';
import { type ExplainedFilter, explainChain } from './explained-filters-chain.ts';
import { closedReasons } from './explained-filters-closed.ts';
import {
  type FiltersInForce,
  isOfListener,
  type OperatorRule,
  routeRuleOf,
} from './explained-filters-config.ts';
import { type ExplainedEndpoint, explainEndpoint } from './explained-filters-endpoint.ts';
import { toFilterRequest } from './explained-filters-request.ts';
import {
  type ExplainedRule,
  explainReadings,
  explainRule,
  type MissedRule,
  missedRules,
  type PathReading,
} from './explained-filters-rule.ts';
import { type ExplainedTokens, explainTokens } from './explained-tokens.ts';
import { withoutIdentityHeaders } from './identity-headers.ts';
import type { Place } from './place.ts';
import type { RouteMatch } from './route-match.ts';

/**
 * What FilterPolicies and Filters do with a request. `earlier` has the earlier rules that do not
 * match.
 */
export type ExplainedFilters =
  /** No rule is asked. */
  | { readonly decision: 'off'; readonly reason: string }
  | { readonly decision: 'malformed'; readonly reason: string }
  | ExplainedEndpoint
  /** Two readings of the path match different rules. */
  | { readonly decision: 'ambiguous'; readonly readings: readonly PathReading[] }
  /** No rule, or one without filters. */
  | {
      readonly decision: 'allowed';
      readonly rule?: ExplainedRule;
      readonly earlier: readonly MissedRule[];
      readonly service: AskedService;
    }
  | {
      readonly decision: 'closed';
      readonly rule: ExplainedRule;
      readonly earlier: readonly MissedRule[];
      readonly reasons: readonly string[];
    }
  | {
      readonly decision: 'chain';
      readonly rule: ExplainedRule;
      readonly earlier: readonly MissedRule[];
      readonly chain: readonly ExplainedFilter[];
      readonly decisionCache?: ExplainedDecisionCache;
      readonly tokens?: ExplainedTokens;
    };

export type FilterInputs = {
  readonly match: RouteMatch;
  readonly request: EnvoyRequest;
  readonly resources: ResourceSet;
  readonly problems: readonly Problem[];
  /** Returns all that the Filter service decides by. */
  readonly inForce: () => FiltersInForce;
  readonly places: ReadonlyMap<string, Place>;
};

/**
 * Explains what the ext_authz filter and its service do with a request, by the functions with which
 * they decide. The text holds no secret and no header value. Throws an Error when the service would
 * reject its input.
 * @returns undefined when there are no Filters and no FilterPolicies
 */
export function explainFilters(inputs: FilterInputs): ExplainedFilters | undefined {
  const { filterPolicies, filters, closed } = inputs.resources;
  const kinds = [...filterPolicies, ...filters, ...closed].map(({ kind }) => kind);
  if (!kinds.includes('FilterPolicy') && !kinds.includes('Filter')) return undefined;
  const off = whyOff(inputs.match);
  if (off !== undefined) return { decision: 'off', reason: off };
  const client = toFilterRequest(inputs.request);
  if ('error' in client)
    return isOff(inputs.match.route)
      ? { decision: 'off', reason: 'no rule can match' }
      : { decision: 'malformed', reason: client.error };
  const request = toFilterRequest(withoutIdentityHeaders(inputs.request, inputs.match.virtualHost));
  if ('error' in request) return { decision: 'malformed', reason: request.error };
  return behindStages(explainStages(request.value, client.value, inputs), () =>
    explainCheck(request.value, client.value, inputs),
  );
}

/**
 * Explains what the Filters of a listener do, before the route is chosen. Any route of its virtual
 * host tells of them.
 * @returns undefined when it has none, or when the service cannot judge the request
 */
export function explainListenerFilters(inputs: FilterInputs): ExplainedFilters | undefined {
  const stripped = withoutIdentityHeaders(inputs.request, inputs.match.virtualHost);
  const [client, request] = [toFilterRequest(inputs.request), toFilterRequest(stripped)];
  if ('error' in client || 'error' in request) return undefined;
  return explainStages(request.value, client.value, inputs);
}

function explainStages(
  request: HttpRequest,
  client: HttpRequest,
  inputs: FilterInputs,
): ExplainedFilters | undefined {
  const inForce = inputs.inForce();
  const own = stagesBefore(inputs.match.route).filter(name => inForce.named.has(name));
  return own.reduce<ExplainedFilters | undefined>((before, routeRule) => {
    const selected = inForce.active.select({ ...request, routeRule, beforeRoute: true });
    if ('ambiguous' in selected) return before;
    return behindStages(before, () =>
      explainSelected(selected, { request, client }, inForce, inputs),
    );
  }, undefined);
}

/** Joins the chain of a listener with what comes behind it. Nothing does where it is closed. */
function behindStages(
  before: ExplainedFilters | undefined,
  next: () => ExplainedFilters,
): ExplainedFilters {
  if (before?.decision !== 'chain') return before ?? next();
  const behind = next();
  if (behind.decision === 'allowed' || behind.decision === 'off') return before;
  return behind.decision === 'chain'
    ? { ...behind, chain: [...before.chain, ...behind.chain] }
    : behind;
}

/** The route's setting overrides the virtual host's. */
function whyOff(match: RouteMatch): string | undefined {
  const { route, virtualHost } = match;
  if (isOff(route) && !isPublicRoute(match)) return 'the route has `bypass_auth`';
  return isOff(virtualHost) && routeRuleIn(route) === undefined
    ? 'no rule can match in this virtual host, and it can be no protected origin'
    : undefined;
}

function explainCheck(
  request: HttpRequest,
  client: HttpRequest,
  inputs: FilterInputs,
): ExplainedFilters {
  const inForce = inputs.inForce();
  if (request.target.startsWith(GATEWAY_PATHS))
    return explainEndpoint(request, { ...inForce, ...inputs });
  const routeRule = routeRuleIn(inputs.match.route);
  const asked = routeRule === undefined ? request : { ...request, routeRule };
  const selected = inForce.active.select(asked);
  if ('ambiguous' in selected)
    return { decision: 'ambiguous', readings: explainReadings(request, inForce, inputs.places) };
  return explainSelected(selected, { request, client }, inForce, inputs);
}

function explainSelected(
  { rule: selected }: Extract<Selected, { readonly rule: unknown }>,
  { request, client }: { readonly request: HttpRequest; readonly client: HttpRequest },
  { active, definitions, rules }: FiltersInForce,
  { match, places, problems, request: seenByEnvoy, resources }: FilterInputs,
): ExplainedFilters {
  const service = explainAsked(match, seenByEnvoy);
  const at = selected === undefined ? -1 : rules.findIndex(({ rule }) => rule === selected);
  const operator =
    selected?.routeRule === undefined
      ? rules[at]
      : joinedRule(selected, request, { active, rules }, resources.filterPolicies);
  const earlier = missedRules(at === -1 ? rules : rules.slice(0, at), request, places);
  if (operator === undefined) return { decision: 'allowed', earlier, service };
  const rule = explainRule(operator, places);
  const headers = active.headers.get(operator.rule);
  const closed = active.closed.get(operator.rule);
  if (closed !== undefined)
    return {
      decision: 'closed',
      rule,
      earlier,
      reasons: closedReasons(operator, closed, problems),
    };
  if (headers === undefined) return { decision: 'allowed', rule, earlier, service };
  const seen = withoutInjected(request, headers);
  const chain = explainChain(operator, { definitions, request: seen, client, places });
  const matched = { match, request: seenByEnvoy };
  const cache = explainDecisionCache(operator.rule, matched, definitions);
  const decisionCache = cache === undefined ? {} : { decisionCache: cache };
  const told = explainTokens(operator.rule, matched, definitions, resources);
  const tokens = told === undefined ? {} : { tokens: told };
  return { decision: 'chain', rule, earlier, chain, ...decisionCache, ...tokens };
}

/** The rule that host and path select is behind the Filters of the route. */
function joinedRule(
  rule: Rule,
  request: HttpRequest,
  { active, rules }: Pick<FiltersInForce, 'active' | 'rules'>,
  policies: ResourceSet['filterPolicies'],
): OperatorRule {
  const other = isOfListener(rule) ? { rule: undefined } : selectRule(active.index, request);
  const found = 'rule' in other ? rules.find(each => each.rule === other.rule) : undefined;
  return routeRuleOf(rule, found, policies);
}
