import { isRemembering } from '#controlplane/compile/ext-authz/decision-cache-filters.ts';
import type { Definitions } from '#ext-authz/policy/filter-settings.ts';
import type { Rule } from '#ext-authz/policy/rule.ts';
import type { PerFilterConfig } from './route-configuration.ts';

/** For how many ms a proxy may repeat a decision, or why it asks about every request. */
export type ExplainedDecisionCache = { readonly ms: number } | { readonly reason: string };

/**
 * Explains the `decisionCache` of the Filters of a rule.
 * @returns undefined when none of them has one
 */
export function explainDecisionCache(
  { items, routeRule }: Rule,
  route: PerFilterConfig,
  definitions: Definitions,
): ExplainedDecisionCache | undefined {
  const ages = items.flatMap(({ filter }) => {
    const definition = definitions.get(filter);
    return definition?.type === 'OAuth2' ? (definition.settings.decisionCache?.maxAge ?? []) : [];
  });
  const [ms] = ages;
  if (ms === undefined) return undefined;
  if (isRemembering(route)) return { ms };
  if (routeRule !== undefined) return { reason: 'the route names Filters' };
  if (items.length > 1) return { reason: 'the rule has several filters' };
  if (items[0]?.always !== true) return { reason: 'the filter has `ifRequestHeader`' };
  return { reason: 'the route has requests of other rules too' };
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
