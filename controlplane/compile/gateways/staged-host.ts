import { isJsonObject, type JsonObject, objectsIn } from '#protos/json.ts';
import { GATEWAY_ROUTE, routeRuleOfFilters, WITH_FILTERS } from '../ext-authz/ext-authz-filter.ts';
import { PASSED_HEADER } from '../passed-header.ts';
import { perFilterConfig } from '../per-filter-config.ts';
import { DEFAULT_DOMAINS } from '../rate-limits/asked-domains.ts';
import { withLimits } from '../rate-limits/rate-limit-filter.ts';
import { closed } from '../routes/closed-route.ts';
import { CORS_IN_CHAIN, CORS_NAME } from '../routes/cors-filter.ts';
import type { HostParts } from '../routes/virtual-hosts.ts';
import { type PlacedStage, stagesOff, stagesOn } from './listener-stages.ts';
import { afterStages } from './route-filters.ts';
import { externalsInChain } from './rule-externals.ts';
import { SESSIONS_IN_CHAIN } from './rule-session.ts';

/**
 * Returns the routes and settings of a virtual host whose listener has filters. Every request has a
 * route of its own until it has passed them, which answers 500 if one came so far. Envoy decides
 * by that first route which filters are in the chain. So all that a later route may need is there.
 */
export function stagedHost(
  stages: readonly PlacedStage[],
  { fields, first }: HostParts,
  routes: readonly JsonObject[],
): JsonObject {
  const after = routeRuleOfFilters(undefined, afterStages(stages));
  const off = stagesOff(stages);
  return {
    routes: [
      ...first.map(route => ({ ...route, ...perFilterConfig(route, off) })),
      ...preflights(routes, after, off),
      { ...closed(GATEWAY_ROUTE, { prefix: '/', headers: [NOT_PASSED] }), ...after },
      ...routes.flatMap(withoutUpgrades),
      { name: listenerOf(stages), match: { prefix: '/' }, direct_response: NOT_FOUND, ...after },
    ],
    ...fields,
    ...perFilterConfig(
      withLimits(DEFAULT_DOMAINS),
      fields,
      CORS_IN_CHAIN,
      WITH_FILTERS,
      externalsInChain(routes),
      SESSIONS_IN_CHAIN,
      stagesOn(stages),
    ),
  };
}

/** The listener lets every upgrade through, so a route that takes none answers itself. */
function withoutUpgrades(route: JsonObject): readonly JsonObject[] {
  const action = isJsonObject(route.route) ? route.route : undefined;
  if (action === undefined || action.upgrade_configs !== undefined) return [route];
  const match = isJsonObject(route.match) ? route.match : {};
  const headers = [...objectsIn(match.headers), UPGRADE];
  const { route: _, ...rest } = route;
  return [{ ...rest, match: { ...match, headers }, direct_response: { status: 403 } }, route];
}

const UPGRADE: JsonObject = { name: 'upgrade', present_match: true };

/** Envoy asks no filter about a request without a route. */
const NOT_FOUND: JsonObject = { status: 404 };

const NOT_PASSED: JsonObject = { name: PASSED_HEADER, present_match: true, invert_match: true };

/**
 * Returns the routes of preflights, in the order of the routes that they are for. They have no
 * credentials, so those for a route with CORS do not pass the stages. The filter answers all of
 * them, and a backend gets none.
 */
function preflights(
  routes: readonly JsonObject[],
  after: JsonObject,
  off: JsonObject,
): readonly JsonObject[] {
  const last = routes.findLastIndex(route => corsOf(route) !== undefined);
  return routes.slice(0, last + 1).map(route => {
    const cors = corsOf(route);
    const match = isJsonObject(route.match) ? route.match : {};
    const asked = { ...match, headers: [...PREFLIGHT, ...objectsIn(match.headers)] };
    if (cors === undefined) return { ...closed(GATEWAY_ROUTE, asked), ...after };
    const settings = { typed_per_filter_config: { [CORS_NAME]: cors } };
    const name = GATEWAY_ROUTE;
    const answer = { name, match: asked, route: NOWHERE };
    return { ...answer, ...headersOf(route), ...perFilterConfig(settings, off) };
  });
}

/** The filter answers for no route that Envoy answers itself. No cluster has the name of none. */
const NOWHERE: JsonObject = {
  cluster_header: PASSED_HEADER,
  cluster_not_found_response_code: 'INTERNAL_SERVER_ERROR',
};

/** Source: the Fetch standard, "CORS-preflight request". */
const PREFLIGHT: readonly JsonObject[] = [
  NOT_PASSED,
  { name: ':method', string_match: { exact: 'OPTIONS' } },
  { name: 'origin', present_match: true },
  { name: 'access-control-request-method', present_match: true },
];

function corsOf({ typed_per_filter_config: settings }: JsonObject) {
  return isJsonObject(settings) ? settings[CORS_NAME] : undefined;
}

function headersOf({
  response_headers_to_add,
  response_headers_to_remove,
}: JsonObject): JsonObject {
  return {
    ...(response_headers_to_add === undefined ? {} : { response_headers_to_add }),
    ...(response_headers_to_remove === undefined ? {} : { response_headers_to_remove }),
  };
}

function listenerOf([first]: readonly PlacedStage[]): string {
  return (first?.rule ?? '').replace(/\/\d+$/, '');
}
