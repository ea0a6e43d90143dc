import { EDGE, ofNodeGroup } from '#controlplane/compile/node-groups.ts';
import { byBypass } from '#controlplane/compile/routes/mapping-groups.ts';
import { matchKey } from '#controlplane/compile/routes/mapping-match.ts';
import { choiceOf, hasMapping } from '#controlplane/compile/tls/host-choice.ts';
import { hostCoverOf } from '#controlplane/compile/tls/host-cover.ts';
import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { type Place, placeOf } from './place.ts';
import type { RouteAction } from './route-configuration.ts';
import type { RouteMatch } from './route-match.ts';
import type { SentRequest } from './sent-request.ts';
import { type ClusterShare, percentOf, sharesOf } from './shares.ts';

/** The resource of the matched route, and the targets of the request. */
export type ExplainedRoute = Place & {
  /** Domains of the virtual host. */
  readonly domains: readonly string[];
  /** Empty when the gateway answers itself. */
  readonly targets: readonly Target[];
  /** Targets of copies (Mappings with `shadow`). */
  readonly copies: readonly Target[];
};

export type Target = ClusterShare & {
  readonly of: Place;
  /** What it gets, where targets get different things. */
  readonly sent?: SentRequest;
};

export function explainRoute(
  match: RouteMatch,
  resources: ResourceSet,
  places: ReadonlyMap<string, Place>,
): ExplainedRoute {
  const { route, virtualHost } = match;
  const owner = placeOf(places, route.name);
  const mappings = mappingsSharing(match, resources);
  const sharing = Map.groupBy(mappings, ({ spec }) => spec.shadow);
  const withPlaces = (clusters: readonly ClusterShare[], isShadow: boolean) =>
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

function mirrorsOf(action: RouteAction | undefined): readonly ClusterShare[] {
  return (action?.request_mirror_policies ?? []).map(({ cluster, runtime_fraction }) => ({
    cluster,
    percent: percentOf(runtime_fraction?.default_value),
  }));
}

/**
 * Returns the Mappings that match the very same requests of a virtual host, also shadows, in the
 * order of their clusters in the route.
 */
export function mappingsSharing(
  { route, virtualHost }: RouteMatch,
  resources: ResourceSet,
): readonly Resource<'Mapping'>[] {
  const { mappings } = resources;
  const first = mappings.find(({ id }) => id === route.name);
  if (first === undefined) return [];
  const key = matchKey(first.spec);
  const { node_group } = first.spec;
  const sharing = mappings
    .filter(({ spec }) => spec.node_group === node_group && matchKey(spec) === key)
    .sort((a, b) => byBypass(a.spec, b.spec));
  if (sharing.length === 1 || node_group !== EDGE) return sharing;
  const { choices, ownerOf } = hostCoverOf(ofNodeGroup(resources, EDGE));
  const domain = virtualHost.domains[0] ?? '*';
  const choice = choices.get(choiceOf(ownerOf(domain.replace(/^\[(.*)\]$/, '$1'))));
  return sharing.filter(mapping => hasMapping(choice, mapping));
}
