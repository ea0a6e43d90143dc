import { isJsonObject, type Json, type JsonObject, objectsIn } from '#protos/json.ts';
import { rememberingRule } from '../ext-authz/decision-cache-filters.ts';
import { hasFilterSettings } from '../ext-authz/ext-authz-filter.ts';
import type { FindRemembered } from '../ext-authz/remembered-rules.ts';
import type { Memo } from '../memo.ts';
import { perFilterConfig } from '../per-filter-config.ts';
import { eachRoute } from './each-route.ts';
import {
  IN_ONE_READING,
  NO_CREDENTIALS,
  outside,
  PLAIN,
  pathsOf,
  startsWith,
} from './public-routes.ts';

/**
 * Returns the routes of a virtual host. Before each of which some requests are decided by one rule
 * and a session alone, it puts the same route for these requests, which repeats decisions. See
 * docs/adr/0023-decision-cache.md.
 */
export function withRememberingRoutes(
  routes: readonly JsonObject[],
  find: FindRemembered,
  memo: Memo,
): readonly JsonObject[] {
  const make = (route: JsonObject) => [rememberingRoute(route, find) ?? [], route].flat();
  return eachRoute(routes, { what: 'remembering routes', owner: find, make }, memo);
}

function rememberingRoute(route: JsonObject, find: FindRemembered): JsonObject | undefined {
  const { match } = route;
  if (!isJsonObject(match) || hasFilterSettings(route) || route.route === undefined)
    return undefined;
  const paths = pathsOf(match);
  const rule = PLAIN.test(paths.prefix) ? find(paths) : undefined;
  if (rule === undefined) return undefined;
  const headers: readonly Json[] = [
    ...startsWith(paths.prefix),
    WITH_SESSION,
    IN_ONE_READING,
    ...rule.apart.map(outside),
    USUAL_METHOD,
    ...NO_CREDENTIALS,
    ...objectsIn(match.headers),
  ];
  const settings = perFilterConfig(route, rememberingRule(rule.name));
  return { ...route, match: { ...match, headers }, ...settings };
}

const WITH_SESSION: Json = { name: 'cookie', string_match: { contains: 'gateway_session.' } };

/** The service rejects methods that are malformed. */
const USUAL_METHOD: Json = {
  name: ':method',
  string_match: { safe_regex: { regex: 'GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS' } },
};
