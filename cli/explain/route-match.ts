import type { EnvoyRequest } from './envoy-request.ts';
import { type Unmet, unmetConditions } from './route-conditions.ts';
import type { Route, VirtualHost } from './route-configuration.ts';
import { findVirtualHost } from './virtual-host.ts';

/** The route that Envoy takes. */
export type RouteMatch = { readonly virtualHost: VirtualHost; readonly route: Route };

/** A route that Envoy does not take, and why; `unmet` is never empty. */
export type RouteMiss = { readonly route: Route; readonly unmet: readonly Unmet[] };

/** The first route that matches in the virtual host of the request's host; undefined: Envoy answers 404. */
export function matchRoute(hosts: readonly VirtualHost[], request: EnvoyRequest): RouteMatch | undefined {
  const virtualHost = findVirtualHost(hosts, hostOf(request));
  const route = virtualHost?.routes.find(({ match }) => unmetConditions(match, request).length === 0);
  return virtualHost === undefined || route === undefined ? undefined : { virtualHost, route };
}

/** How many of the misses are told. */
const NEAREST = 3;

/**
 * For a request without route: the routes of all virtual hosts of which it misses the fewest conditions, of equal ones those whose
 * path is most like its own. Each resource once.
 */
export function nearestMisses(hosts: readonly VirtualHost[], request: EnvoyRequest): readonly RouteMiss[] {
  const chosen = findVirtualHost(hosts, hostOf(request));
  const misses = hosts.flatMap(virtualHost =>
    virtualHost.routes.map(route => ({
      route,
      unmet: [...unmetHost(virtualHost, chosen, request), ...unmetConditions(route.match, request)],
    })),
  );
  const ranked = misses
    .map(miss => ({ miss, likeness: pathLikeness(miss.route, request) }))
    .sort((a, b) => a.miss.unmet.length - b.miss.unmet.length || b.likeness - a.likeness)
    .map(({ miss }) => miss);
  const ofName = Map.groupBy(ranked, ({ route }) => route.name);
  return [...ofName.values()].flatMap(([best]) => best ?? []).slice(0, NEAREST);
}

function unmetHost(
  virtualHost: VirtualHost,
  chosen: VirtualHost | undefined,
  request: EnvoyRequest,
): readonly Unmet[] {
  if (virtualHost === chosen) return [];
  return [{ of: 'host', reason: `the host is ${hostOf(request)}, not ${virtualHost.domains.join(' or ')}` }];
}

/** How many characters the paths have in common at their beginning. */
function pathLikeness({ match }: Route, { path }: EnvoyRequest): number {
  const wanted = String(match.prefix ?? match.path ?? match.path_separated_prefix ?? '');
  const common = [...wanted].findIndex((char, index) => char !== path.charAt(index));
  return common === -1 ? wanted.length : common;
}

function hostOf({ headers }: EnvoyRequest): string {
  return headers.get(':authority')?.[0] ?? '';
}
