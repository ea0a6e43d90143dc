import { isJsonObject, type JsonObject } from '#protos/json.ts';
import { hasFilterSettings } from '../ext-authz/ext-authz-filter.ts';
import { verifiedBy } from '../ext-authz/token-filters.ts';
import type { TokensOf } from '../ext-authz/tokens-on.ts';
import type { Memo } from '../memo.ts';
import { perFilterConfig } from '../per-filter-config.ts';
import { pathsOf } from './public-routes.ts';

/**
 * Returns the routes of a virtual host. Those whose requests one rule decides get the filters that
 * verify its tokens, where they can.
 */
export function verifyingRoutes(
  routes: readonly JsonObject[],
  tokensOf: TokensOf,
  memo: Memo,
): readonly JsonObject[] {
  const made = memo.of(
    tokensOf,
    'routes with verified tokens',
    [],
    () => new WeakMap<JsonObject, JsonObject>(),
  );
  return routes.map(route => {
    const known = made.get(route) ?? verifyingRoute(route, tokensOf, memo);
    made.set(route, known);
    return known;
  });
}

/** One route in several virtual hosts stays one object. */
function verifyingRoute(route: JsonObject, tokensOf: TokensOf, memo: Memo): JsonObject {
  const { match } = route;
  if (!isJsonObject(match) || !isJsonObject(route.route) || hasFilterSettings(route)) return route;
  const way = tokensOf(pathsOf(match));
  if (way === undefined || !('provider' in way)) return route;
  const { provider } = way;
  return memo.of(route, 'route with verified tokens', [provider], () => ({
    ...route,
    ...perFilterConfig(route, verifiedBy(provider)),
  }));
}
