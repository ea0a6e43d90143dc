import { coveringDomains } from '#controlplane/compile/domain-cover.ts';
import type { Memo } from '#controlplane/compile/memo.ts';
import { problemOf } from '#controlplane/compile/problem-of.ts';
import type { GrpcRouteRule } from '#resources/kinds/grpc-route/grpc-route-spec.ts';
import type { HttpRouteRule } from '#resources/kinds/http-route/http-route-spec.ts';
import type { Problem } from '#resources/problem.ts';
import { prefixOf } from './path-prefix.ts';
import type { WrittenListener } from './route-parent.ts';
import { servicesOf } from './route-rules.ts';
import type { ServedRoute, ServedRule } from './served-gateway.ts';

/**
 * Returns warnings of GRPCRoutes that lead past the Filters of an HTTPRoute. Any request that says
 * that it is a call of gRPC goes to the GRPCRoute, and so to the very Service that the Filters
 * protect. A FilterPolicy with `filters: []` for the GRPCRoute says that this is meant.
 */
export function openCalls(
  listeners: readonly WrittenListener[],
  attached: ReadonlyMap<string, readonly { readonly route: ServedRoute }[]>,
  memo: Memo,
): readonly Problem[] {
  const found = listeners.flatMap(listener => {
    const routes = (attached.get(listener.id) ?? []).map(({ route }) => route);
    return memo.of(listener, 'open calls', routes, () => openCallsIn(routes));
  });
  return [...new Map(found.map(each => [JSON.stringify(each), each])).values()];
}

function openCallsIn(routes: readonly ServedRoute[]): readonly Problem[] {
  if (!routes.some(({ kind }) => kind === 'GRPCRoute')) return [];
  const guarded = guardedPlaces(routes);
  return routes.flatMap(served =>
    served.kind === 'GRPCRoute'
      ? served.rules.filter(isOpen).flatMap(rule => {
          const by = served.hostnames
            .flatMap(host => placesOf(rule, host))
            .find(guarded.has, guarded);
          if (by === undefined) return [];
          const message = `its calls reach the same Service without the Filters of the ${guarded.get(by)}. Protect it too, or name it in a FilterPolicy with \`filters: []\``;
          return [problemOf(served.route, 'warning', `spec.rules[${rule.index}]`, message)];
        })
      : [],
  );
}

/** Returns the HTTPRoute with Filters of each place, which is a host name, a Service and paths. */
function guardedPlaces(routes: readonly ServedRoute[]): ReadonlyMap<string, string> {
  const places = new Map<string, string>();
  for (const served of routes) {
    if (served.kind !== 'HTTPRoute') continue;
    for (const rule of served.rules.filter(isGuarded))
      for (const service of servicesOf([rule]))
        for (const hostname of served.hostnames)
          for (const place of reached(hostname, service, isWhole(rule)))
            places.set(place, served.route.id.replace('/', ' '));
  }
  return places;
}

function isGuarded({ broken, externals, filters, policy }: ServedRule<unknown>): boolean {
  const ofPolicy = policy?.policy.spec.filters ?? [];
  return broken === undefined && externals.length + filters.length + ofPolicy.length > 0;
}

function isOpen({ broken, externals, filters, policy }: ServedRule<unknown>): boolean {
  return broken === undefined && externals.length + filters.length === 0 && policy === undefined;
}

/** Returns the keys at which a GRPCRoute with this or a wider or narrower host name looks. */
function reached(hostname: string, service: string, isWhole: boolean): readonly string[] {
  const wider = coveringDomains(hostname).map(each => `${each} ${service}`);
  const narrower = `under ${hostname} ${service}`;
  const all = [...wider, narrower];
  return [...all, ...(isWhole ? all.map(each => `${each} /`) : [])];
}

function placesOf(rule: ServedRule<GrpcRouteRule>, hostname: string): readonly string[] {
  const paths = isForAllCalls(rule) ? '' : ' /';
  return servicesOf([rule]).flatMap(service => [
    `${hostname} ${service}${paths}`,
    ...coveringDomains(hostname).map(each => `under ${each} ${service}${paths}`),
  ]);
}

/** A call of a certain service has a path that few other prefixes have. */
function isForAllCalls({ rule: { matches } }: ServedRule<GrpcRouteRule>): boolean {
  return matches.length === 0 || matches.some(({ method }) => method === undefined);
}

function isWhole({ rule: { matches } }: ServedRule<HttpRouteRule>): boolean {
  return matches.some(({ path }) => path.type === 'PathPrefix' && prefixOf(path.value) === '');
}
