import { matchKey } from '#controlplane/compile/routes/mapping-match.ts';
import { isJsonObject, type JsonObject } from '#protos/json.ts';
import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { type Place, placeOf } from './place.ts';
import type { Fraction, RouteAction } from './route-configuration.ts';
import type { RouteMatch } from './route-match.ts';

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
export type Target = { readonly cluster: string; readonly percent: number; readonly of: Place };

export function explainRoute(
  match: RouteMatch,
  resources: ResourceSet,
  places: ReadonlyMap<string, Place>,
): ExplainedRoute {
  const { route, virtualHost } = match;
  const owner = placeOf(places, route.name);
  const sharing = Map.groupBy(mappingsSharing(route.name, resources), ({ spec }) => spec.shadow);
  const withPlaces = (clusters: readonly Omit<Target, 'of'>[], isShadow: boolean) =>
    clusters.map((target, index) => {
      const mapping = sharing.get(isShadow)?.[index];
      return { ...target, of: mapping === undefined ? owner : placeOf(places, mapping.id) };
    });
  return {
    ...owner,
    domains: virtualHost.domains,
    targets: withPlaces(sharesOf(match), false),
    copies: withPlaces(mirrorsOf(route.route), true),
  };
}

function mirrorsOf(action: RouteAction | undefined): readonly Omit<Target, 'of'>[] {
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

/** Routes that share a match by fractions follow each other, and the last has none. */
function sharesOf({ route, virtualHost: { routes } }: RouteMatch): readonly Omit<Target, 'of'>[] {
  const rest = routes.slice(routes.indexOf(route));
  const last = rest.findIndex(({ match }) => match.runtime_fraction === undefined);
  let below = 0;
  return rest.slice(0, last + 1).flatMap(({ match, route: action }) => {
    const upTo = percentOf(fractionOf(match));
    const share = (upTo - below) / 100;
    below = upTo;
    return clustersOf(action).map(each => ({ ...each, percent: each.percent * share }));
  });
}

function clustersOf(action: RouteAction | undefined): readonly Omit<Target, 'of'>[] {
  const { cluster, weighted_clusters } = action ?? {};
  if (cluster !== undefined) return [{ cluster, percent: 100 }];
  const clusters = weighted_clusters?.clusters ?? [];
  const whole = clusters.reduce((sum, { weight }) => sum + weight, 0);
  return clusters.map(({ name, weight }) => ({ cluster: name, percent: (weight / whole) * 100 }));
}

/**
 * Returns the Mappings that match the very same requests, also shadows, in the order of their
 * clusters in the route.
 */
function mappingsSharing(id: string, { mappings }: ResourceSet): readonly Resource<'Mapping'>[] {
  const first = mappings.find(mapping => mapping.id === id);
  if (first === undefined) return [];
  const key = matchKey(first.spec);
  const { node_group } = first.spec;
  return mappings.filter(({ spec }) => spec.node_group === node_group && matchKey(spec) === key);
}
