import { isJsonObject, type JsonObject } from '#protos/json.ts';
import { rememberingRule } from '../ext-authz/decision-cache-filters.ts';
import { hasFilterSettings } from '../ext-authz/ext-authz-filter.ts';
import type { RememberedRule } from '../ext-authz/remembered-rules.ts';
import type { Memo } from '../memo.ts';
import { perFilterConfig } from '../per-filter-config.ts';
import { PLAIN, pathsOf } from './public-routes.ts';

/**
 * Returns the routes of a virtual host, where those that lie wholly under one rule repeat its
 * decisions about sessions. See docs/adr/0023-decision-cache.md.
 */
export function rememberingRoutes(
  routes: readonly JsonObject[],
  ruleOf: RememberedRule,
  memo: Memo,
): readonly JsonObject[] {
  const made = memo.of(ruleOf, 'remembering routes', [], () => new WeakMap<object, JsonObject>());
  return routes.map(route => {
    const known = made.get(route) ?? rememberingRoute(route, ruleOf);
    made.set(route, known);
    return known;
  });
}

function rememberingRoute(route: JsonObject, ruleOf: RememberedRule): JsonObject {
  const { match } = route;
  if (!isJsonObject(match) || hasFilterSettings(route) || route.route === undefined) return route;
  const paths = pathsOf(match);
  const rule = PLAIN.test(paths.prefix) ? ruleOf(paths) : undefined;
  return rule === undefined
    ? route
    : { ...route, ...perFilterConfig(route, rememberingRule(rule)) };
}
