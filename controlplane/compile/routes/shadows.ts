import type { JsonObject } from '#protos/json.ts';
import type { Problem } from '#resources/problem.ts';
import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import type { NamedCluster } from '../clusters/cluster-names.ts';
import { keptFilter } from '../kept-lists.ts';
import { problemOf } from '../problem-of.ts';

/** A Mapping that gets copies of other Mappings' requests, and the cluster of its service. */
export type Shadow = { readonly mapping: Resource<'Mapping'>; readonly cluster: NamedCluster };

/**
 * Returns the resources without shadows, and the shadows. A Mapping for copies decides nothing
 * about requests.
 */
export function apart(resources: ResourceSet): {
  readonly served: ResourceSet;
  readonly shadows: ResourceSet['mappings'];
} {
  const shadows = shadowing(resources.mappings);
  if (shadows.length === 0) return { served: resources, shadows };
  return {
    served: { ...resources, mappings: resources.mappings.filter(({ spec }) => !spec.shadow) },
    shadows,
  };
}

const shadowing = keptFilter(({ spec }: Resource<'Mapping'>) => spec.shadow);

/**
 * Returns the part of Envoy's `RouteAction` that sends copies of requests. Their answers are
 * dropped.
 */
export function mirrorPolicies(shadows: readonly Shadow[]): JsonObject {
  if (shadows.length === 0) return {};
  return {
    request_mirror_policies: shadows.map(({ mapping, cluster }) => ({
      cluster: cluster.name,
      ...fraction(mapping.spec.weight),
    })),
  };
}

function fraction(percent: number | undefined): JsonObject {
  if (percent === undefined) return {};
  return { runtime_fraction: { default_value: { numerator: percent, denominator: 'HUNDRED' } } };
}

type ByMatch = ReadonlyMap<string, readonly [Shadow, ...Shadow[]]>;

/** Returns Problems of shadows beside the Mappings that match the same. */
export function shadowProblems(shadows: ByMatch, served: ByMatch): readonly Problem[] {
  return [...shadows].flatMap(([match, all]) => {
    const first = served.get(match)?.[0].mapping;
    return all.flatMap(({ mapping }) =>
      first === undefined ? [idle(mapping)] : overruled(mapping, first),
    );
  });
}

function idle(mapping: Resource<'Mapping'>): Problem {
  const message =
    'it gets nothing: no other Mapping matches the same requests, whose copies it could get';
  return problemOf(mapping, 'warning', 'spec.shadow', message);
}

function overruled(mapping: Resource<'Mapping'>, first: Resource<'Mapping'>): readonly Problem[] {
  if (mapping.spec.rewrite === first.spec.rewrite) return [];
  const message = `\`rewrite\` is that of ${first.id}, of whose requests it gets copies`;
  return [problemOf(mapping, 'warning', 'spec.rewrite', message)];
}
