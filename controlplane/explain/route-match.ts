import type { CutHosts } from '#controlplane/compile/routes/with-shards.ts';
import type { EnvoyRequest } from './envoy-request.ts';
import { withoutPort } from './request-host.ts';
import { unmetConditions } from './route-conditions.ts';
import type { Route, VirtualHost } from './route-configuration.ts';
import { shardRoutes } from './shard-routes.ts';
import type { Unmet } from './unmet.ts';
import { findVirtualHost } from './virtual-host.ts';

/** The route that Envoy takes. */
export type RouteMatch = { readonly virtualHost: VirtualHost; readonly route: Route };

/** A route that Envoy does not take, and why. `unmet` is never empty. */
export type RouteMiss = { readonly route: Route; readonly unmet: readonly Unmet[] };

/**
 * Returns the first route that matches in the virtual host of the request's host, or in its shard
 * where the table is cut.
 * @returns undefined when Envoy answers 404
 */
export function matchRoute(
  hosts: readonly VirtualHost[],
  request: EnvoyRequest,
  cut?: CutHosts,
): RouteMatch | undefined {
  const virtualHost = findVirtualHost(hosts, hostOf(request));
  const routes = cut === undefined ? virtualHost?.routes : shardRoutes(cut, request);
  const route = routes?.find(({ match }) => unmetConditions(match, request).length === 0);
  return virtualHost === undefined || route === undefined ? undefined : { virtualHost, route };
}

/** The number of misses that are shown. */
const NEAREST = 3;

/**
 * Returns the routes of all virtual hosts that come nearest to a request without a route, each
 * resource once.
 */
export function nearestMisses(
  hosts: readonly VirtualHost[],
  request: EnvoyRequest,
): readonly RouteMiss[] {
  const chosen = findVirtualHost(hosts, hostOf(request));
  const misses = hosts.flatMap(virtualHost =>
    virtualHost.routes.map(route => ({
      route,
      unmet: [...unmetHost(virtualHost, chosen, request), ...unmetConditions(route.match, request)],
    })),
  );
  const ranked = misses
    .map(miss => ({ miss, distance: distanceOf(miss, request) }))
    .sort((a, b) => a.distance - b.distance)
    .map(({ miss }) => miss);
  const ofName = Map.groupBy(ranked, ({ route }) => route.name);
  return [...ofName.values()].flatMap(([best]) => best ?? []).slice(0, NEAREST);
}

/**
 * Returns a distance. The lower it is, the likelier the route was meant. A wrong path counts less
 * the longer its right beginning is.
 */
function distanceOf({ route, unmet }: RouteMiss, request: EnvoyRequest): number {
  const distances = {
    method: 1,
    header: 1,
    query: 1,
    host: 2,
    path: 1 + 3 * pathUnlikeness(route, request),
  };
  return unmet.reduce((sum, { of }) => sum + distances[of], 0);
}

function unmetHost(
  virtualHost: VirtualHost,
  chosen: VirtualHost | undefined,
  request: EnvoyRequest,
): readonly Unmet[] {
  if (virtualHost === chosen) return [];
  return [
    {
      of: 'host',
      reason: `the host is ${hostOf(request)}, not ${virtualHost.domains.join(' or ')}`,
    },
  ];
}

/** Returns from 0 to 1 how much of the beginning of the route's path the request lacks. */
function pathUnlikeness({ match }: Route, { path }: EnvoyRequest): number {
  const wanted = String(match.prefix ?? match.path ?? match.path_separated_prefix ?? '');
  const different = [...wanted].findIndex((char, index) => char !== path.charAt(index));
  if (wanted === '') return 1;
  return different === -1 ? 0 : 1 - different / wanted.length;
}

function hostOf({ headers }: EnvoyRequest): string {
  return withoutPort(headers.get(':authority')?.[0] ?? '');
}
