import { isJsonObject, type Json, type JsonObject, objectsIn } from '#protos/json.ts';
import { GATEWAY_PATHS, hasFilterSettings, toldByRoute } from '../ext-authz/ext-authz-filter.ts';
import { verifiedBy } from '../ext-authz/token-filters.ts';
import type { TokensOf } from '../ext-authz/tokens-on.ts';
import type { Memo } from '../memo.ts';
import { perFilterConfig } from '../per-filter-config.ts';
import { eachRoute } from './each-route.ts';
import { IN_ONE_READING, NOTHING_TO_REMOVE, PLAIN, pathsOf, startsWith } from './public-routes.ts';

/**
 * Returns the routes of a virtual host. Before each whose requests one rule decides, it puts the
 * same route with the filters that verify the rule's tokens, where they can. It is for requests of
 * which Envoy and the Filter service read the same. See docs/adr/0024-tokens-in-the-proxy.md.
 */
export function verifyingRoutes(
  routes: readonly JsonObject[],
  tokensOf: TokensOf,
  memo: Memo,
): readonly JsonObject[] {
  const make = (route: JsonObject) => [verifyingRoute(route, tokensOf, memo) ?? [], route].flat();
  return eachRoute(routes, { what: 'routes with verified tokens', owner: tokensOf, make }, memo);
}

function verifyingRoute(route: JsonObject, tokensOf: TokensOf, memo: Memo): JsonObject | undefined {
  const { match } = route;
  const rule = toldByRoute(route, 'rule');
  const isOther = hasFilterSettings(route) && rule === undefined;
  if (!isJsonObject(match) || !isJsonObject(route.route) || isOther) return undefined;
  const paths = pathsOf(match);
  const way = PLAIN.test(paths.prefix) ? tokensOf(paths, rule) : undefined;
  if (way === undefined || !('provider' in way)) return undefined;
  const { provider } = way;
  // One route in several virtual hosts stays one object.
  return memo.of(route, 'route with verified tokens', [provider], () => ({
    ...route,
    match: {
      ...match,
      headers: [...startsWith(paths.prefix), ...SURE, ...objectsIn(match.headers)],
    },
    ...perFilterConfig(route, verifiedBy(provider)),
  }));
}

/** A path in one reading, a usual host, and nothing that the service would remove. */
const SURE: readonly Json[] = [
  IN_ONE_READING,
  { name: ':path', string_match: { prefix: GATEWAY_PATHS }, invert_match: true },
  matches(
    ':authority',
    '(?i)(?:\\[[0-9a-f:.]{2,45}\\]|[a-z0-9_-][a-z0-9._-]{0,252})(?::[0-9]{1,5})?',
  ),
  matches(':method', '[A-Z]{1,20}'),
  matches(':scheme', 'https?'),
  ...NOTHING_TO_REMOVE,
];

function matches(name: string, regex: string): Json {
  return { name, string_match: { safe_regex: { regex } } };
}
