import { isJsonObject, type JsonObject } from '#protos/json.ts';
import type { Fraction, Route, WeightedCluster } from './route-configuration.ts';
import type { RouteMatch } from './route-match.ts';

/** A cluster, and its share of the requests in percent. */
export type ClusterShare = { readonly cluster: string; readonly percent: number };

/** A target as it is in a route. */
export type Share = ClusterShare & {
  readonly route: Route;
  /** Absent when the route has one cluster alone. */
  readonly weighted?: WeightedCluster;
};

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

function fractionOf({ runtime_fraction }: JsonObject): Fraction | undefined {
  // The compiler writes it, for backends with paths of their own.
  return isJsonObject(runtime_fraction)
    ? (runtime_fraction.default_value as Fraction | undefined)
    : undefined;
}

export function percentOf(fraction: Fraction | undefined): number {
  if (fraction === undefined) return 100;
  return fraction.denominator === 'MILLION' ? fraction.numerator / 10_000 : fraction.numerator;
}
