import { isJsonObject, type JsonObject } from '#protos/json.ts';
import { hasFilterSettings } from '../ext-authz/ext-authz-filter.ts';
import { verifiedBy } from '../ext-authz/token-filters.ts';
import type { TokensOf } from '../ext-authz/tokens-on.ts';
import type { Memo } from '../memo.ts';
import { perFilterConfig } from '../per-filter-config.ts';
import { eachRoute } from './each-route.ts';
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
  const make = (route: JsonObject) => [verifyingRoute(route, tokensOf, memo)];
  return eachRoute(routes, { what: 'routes with verified tokens', owner: tokensOf, make }, memo);
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
