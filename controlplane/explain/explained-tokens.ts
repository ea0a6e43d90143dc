import { orderedRules } from '#controlplane/compile/ext-authz/rule-order.ts';
import { servedFilters } from '#controlplane/compile/ext-authz/served-filters.ts';
import { providerOn } from '#controlplane/compile/ext-authz/token-filters.ts';
import { edgeTokens } from '#controlplane/compile/ext-authz/tokens-on.ts';
import { pathsOf } from '#controlplane/compile/routes/public-routes.ts';
import type { Definitions } from '#ext-authz/policy/filter-settings.ts';
import type { Rule } from '#ext-authz/policy/rule.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
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
  { route, virtualHost }: RouteMatch,
  definitions: Definitions,
  resources: ResourceSet,
): ExplainedTokens | undefined {
  if (!items.some(({ filter }) => definitions.get(filter)?.type === 'JWT')) return undefined;
  if (providerOn(route) !== undefined) return { verifiedBy: 'proxy' };
  const why = (reason: string) => ({ verifiedBy: 'ext-authz', reason }) as const;
  if (routeRule !== undefined) return why('the route names Filters');
  if (route.route === undefined) return why('no service gets the request');
  const { byName } = servedFilters(resources);
  const { on } = edgeTokens(orderedRules(resources.filterPolicies), byName);
  const way = on(virtualHost.domains)(pathsOf(route.match));
  return why(way !== undefined && 'reason' in way ? way.reason : 'another rule may match');
}

/** Formats it for people. */
export function tokenLines(explained: ExplainedTokens | undefined): readonly string[] {
  if (explained === undefined) return [];
  return explained.verifiedBy === 'proxy'
    ? ['    the proxy verifies usual tokens itself, and asks ext-authz about all others']
    : [`    ext-authz verifies every token: ${explained.reason}`];
}
