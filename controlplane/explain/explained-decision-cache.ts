import { isRemembering } from '#controlplane/compile/ext-authz/decision-cache-filters.ts';
import type { Definitions } from '#ext-authz/policy/filter-settings.ts';
import type { Rule } from '#ext-authz/policy/rule.ts';
import type { EnvoyRequest } from './envoy-request.ts';
import { unmetConditions } from './route-conditions.ts';
import type { Route } from './route-configuration.ts';
import type { RouteMatch } from './route-match.ts';

/** For how many ms a proxy may repeat a decision, or why it asks about every request. */
export type ExplainedDecisionCache = { readonly ms: number } | { readonly reason: string };

/**
 * Explains the `decisionCache` of the Filters of a rule. That the request has a session is left
 * open.
 * @returns undefined when none of them has one
 */
export function explainDecisionCache(
  { items, routeRule }: Rule,
  { match, request }: { readonly match: RouteMatch; readonly request: EnvoyRequest },
  definitions: Definitions,
): ExplainedDecisionCache | undefined {
  const ages = items.flatMap(({ filter }) => {
    const definition = definitions.get(filter);
    return definition?.type === 'OAuth2' ? (definition.settings.decisionCache?.maxAge ?? []) : [];
  });
  const [ms] = ages;
  if (ms === undefined) return undefined;
  const part = rememberingPart(match);
  if (part !== undefined) {
    const [unmet] = unmetConditions(part.match, request)
      .map(({ reason }) => reason)
      .filter(reason => !reason.startsWith('the header cookie'));
    return unmet === undefined ? { ms } : { reason: unmet };
  }
  if (routeRule !== undefined) return { reason: 'the route names Filters' };
  if (items.length > 1) return { reason: 'the rule has several filters' };
  if (items[0]?.always !== true) return { reason: 'the filter has `ifRequestHeader`' };
  return { reason: 'the rule is not for every request of the route' };
}

/** See remembering-routes.ts. Both parts do the same with their requests. */
function rememberingPart({ route, virtualHost }: RouteMatch): Route | undefined {
  return virtualHost.routes.find(
    other => other.route !== undefined && other.route === route.route && isRemembering(other),
  );
}

/** Formats it for people. */
export function decisionCacheLines(
  explained: ExplainedDecisionCache | undefined,
): readonly string[] {
  if (explained === undefined) return [];
  return 'ms' in explained
    ? [
        `    a proxy may repeat the decision for ${explained.ms} ms, for the same cookies (decisionCache)`,
      ]
    : [`    decisionCache has no effect here: ${explained.reason}`];
}
