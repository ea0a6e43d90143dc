import { EDGE, ofNodeGroup } from '#controlplane/compile/node-groups.ts';
import { matchKey } from '#controlplane/compile/routes/mapping-match.ts';
import { choiceOf, hasMapping } from '#controlplane/compile/tls/host-choice.ts';
import { hostCoverOf } from '#controlplane/compile/tls/host-cover.ts';
import { isJsonObject, type JsonObject } from '#protos/json.ts';
import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { type Place, placeOf } from './place.ts';
import type { Fraction, Route, RouteAction, WeightedCluster } from './route-configuration.ts';
import type { RouteMatch } from './route-match.ts';
import type { SentRequest } from './sent-request.ts';

/** The resource of the matched route, and the targets of the request. */
export type ExplainedRoute = Place & {
  /** Domains of the virtual host. */
  readonly domains: readonly string[];
  /** Empty when the gateway answers itself. */
  readonly targets: readonly Target[];
  /** Targets of copies (Mappings with `shadow`). */
  readonly copies: readonly Target[];
};

/** A cluster, and its share of the requests in percent. */
export type Target = {
  readonly cluster: string;
  readonly percent: number;
  readonly of: Place;
  /** What it gets, where targets get different things. */
  readonly sent?: SentRequest;
};

/** A target as it is in a route. */
export type Share = Pick<Target, 'cluster' | 'percent'> & {
  readonly route: Route;
  /** Absent when the route has one cluster alone. */
  readonly weighted?: WeightedCluster;
};

export function explainRoute(
  match: RouteMatch,
  resources: ResourceSet,
  places: ReadonlyMap<string, Place>,
): ExplainedRoute {
  const { route, virtualHost } = match;
  const owner = placeOf(places, route.name);
  const mappings = mappingsSharing(route.name, virtualHost.domains[0] ?? '*', resources);
  const sharing = Map.groupBy(mappings, ({ spec }) => spec.shadow);
  const withPlaces = (clusters: readonly Pick<Share, 'cluster' | 'percent'>[], isShadow: boolean) =>
    clusters.map(({ cluster, percent }, index) => {
      const mapping = sharing.get(isShadow)?.[index];
      const of = mapping === undefined ? owner : placeOf(places, mapping.id);
      return { cluster, percent, of };
    });
  return {
    ...owner,
    domains: virtualHost.domains,
    targets: withPlaces(sharesOf(match), false),
    copies: withPlaces(mirrorsOf(route.route), true),
  };
}

function mirrorsOf(action: RouteAction | undefined): readonly Pick<Share, 'cluster' | 'percent'>[] {
  return (action?.request_mirror_policies ?? []).map(({ cluster, runtime_fraction }) => ({
    cluster,
    percent: percentOf(runtime_fraction?.default_value),
  }));
}

function fractionOf({ runtime_fraction }: JsonObject): Fraction | undefined {
  // The compiler writes it, for backends with paths of their own.
  return isJsonObject(runtime_fraction)
    ? (runtime_fraction.default_value as Fraction | undefined)
    : undefined;
}

function percentOf(fraction: Fraction | undefined): number {
  if (fraction === undefined) return 100;
  return fraction.denominator === 'MILLION' ? fraction.numerator / 10_000 : fraction.numerator;
}

/**
 * Returns the targets of a request in their order. Routes that share a match by fractions follow
 * each other, and the last has none.
 */
export function sharesOf({ route, virtualHost: { routes } }: RouteMatch): readonly Share[] {
  const rest = [route, ...routes.slice(routes.indexOf(route) + 1)];
  const last = rest.findIndex(({ match }) => match.runtime_fraction === undefined);
  let below = 0;
  return rest.slice(0, last + 1).flatMap(route => {
    const upTo = percentOf(fractionOf(route.match));
    const share = (upTo - below) / 100;
    below = upTo;
    return clustersOf(route).map(each => ({ ...each, percent: each.percent * share }));
  });
}

function clustersOf(route: Route): readonly Share[] {
  const { cluster, weighted_clusters } = route.route ?? {};
  if (cluster !== undefined) return [{ cluster, percent: 100, route }];
  const clusters = weighted_clusters?.clusters ?? [];
  const whole = clusters.reduce((sum, { weight }) => sum + weight, 0);
  return clusters.map(weighted => ({
    cluster: weighted.name,
    percent: (weighted.weight / whole) * 100,
    route,
    weighted,
  }));
}

/**
 * Returns the Mappings that match the very same requests of a virtual host, also shadows, in the
 * order of their clusters in the route.
 */
function mappingsSharing(
  id: string,
  domain: string,
  resources: ResourceSet,
): readonly Resource<'Mapping'>[] {
  const { mappings } = resources;
  const first = mappings.find(mapping => mapping.id === id);
  if (first === undefined) return [];
  const key = matchKey(first.spec);
  const { node_group } = first.spec;
  const sharing = mappings.filter(
    ({ spec }) => spec.node_group === node_group && matchKey(spec) === key,
  );
  if (sharing.length === 1 || node_group !== EDGE) return sharing;
  const { choices, ownerOf } = hostCoverOf(ofNodeGroup(resources, EDGE));
  const choice = choices.get(choiceOf(ownerOf(domain.replace(/^\[(.*)\]$/, '$1'))));
  return sharing.filter(mapping => hasMapping(choice, mapping));
}
