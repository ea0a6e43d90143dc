import { orderedRules } from '#controlplane/compile/ext-authz/rule-order.ts';
import { servedFilters } from '#controlplane/compile/ext-authz/served-filters.ts';
import { isVerifying } from '#controlplane/compile/ext-authz/token-filters.ts';
import { type TokenReference, tokenWay } from '#controlplane/compile/ext-authz/token-way.ts';
import { edgeTokens } from '#controlplane/compile/ext-authz/tokens-on.ts';
import { pathsOf } from '#controlplane/compile/routes/public-routes.ts';
import type { Definitions } from '#ext-authz/policy/filter-settings.ts';
import type { Rule, RuleItem } from '#ext-authz/policy/rule.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import type { EnvoyRequest } from './envoy-request.ts';
import { unmetConditions } from './route-conditions.ts';
import type { RouteMatch } from './route-match.ts';

/** What verifies the bearer tokens of a request, and why it is not the proxy. */
export type ExplainedTokens =
  | { readonly verifiedBy: 'proxy' }
  | { readonly verifiedBy: 'ext-authz'; readonly reason: string };

/**
 * Explains where the tokens of a rule's JWT Filters are verified.
 * @returns undefined when it has none
 */
export function explainTokens(
  { items, routeRule }: Rule,
  { match, request }: { readonly match: RouteMatch; readonly request: EnvoyRequest },
  definitions: Definitions,
  resources: ResourceSet,
): ExplainedTokens | undefined {
  if (!items.some(({ filter }) => definitions.get(filter)?.type === 'JWT')) return undefined;
  const { route, virtualHost } = match;
  if (isVerifying(route)) return { verifiedBy: 'proxy' };
  const why = (reason: string) => ({ verifiedBy: 'ext-authz', reason }) as const;
  const part = virtualHost.routes.find(other => isVerifying(other) && other.route === route.route);
  const [unmet] = part === undefined ? [] : unmetConditions(part.match, request);
  if (unmet !== undefined) return why(unmet.reason);
  if (route.route === undefined) return why('no service gets the request');
  const { byName } = servedFilters(resources);
  const { on } = edgeTokens(orderedRules(resources.filterPolicies), byName);
  const way =
    routeRule === undefined
      ? on(virtualHost.domains)(pathsOf(route.match))
      : tokenWay(items.map(toReference), '', byName);
  return why(way !== undefined && 'reason' in way ? way.reason : 'another rule may match');
}

/** That the condition is another than that of a token is enough here. */
function toReference({ always, arguments: given, filter, onAllow }: RuleItem): TokenReference {
  const [namespace = '', name = ''] = filter.split('/');
  const named = { name, namespace, onAllow, arguments: given };
  return always ? named : { ...named, ifRequestHeader: { name: '', negate: false } };
}

/** Formats it for people. */
export function tokenLines(explained: ExplainedTokens | undefined): readonly string[] {
  if (explained === undefined) return [];
  return explained.verifiedBy === 'proxy'
    ? ['    the proxy verifies usual tokens itself, and asks ext-authz about all others']
    : [`    ext-authz verifies the token: ${explained.reason}`];
}
