import type { Json, JsonObject } from '#protos/json.ts';
import type { MappingSpec } from '#resources/kinds/mapping/mapping-spec.ts';
import type { Problem } from '#resources/problem.ts';
import type { Resource } from '#resources/resource.ts';
import { isHashing } from '#resources/traffic/load-balancer.ts';
import type { NamedCluster } from '../clusters/cluster-names.ts';
import { STREAM_IDLE_MS, toDuration } from '../duration.ts';
import type { EdgeFilters } from '../ext-authz/edge-filters.ts';
import { WITHOUT_FILTERS } from '../ext-authz/ext-authz-filter.ts';
import { mappingDomain } from '../mapping-domain.ts';
import { problemOf } from '../problem-of.ts';
import { type Labellings, routeRateLimits } from '../rate-limits/labelling.ts';
import { sharedLabelProblems, sharedLabels } from '../rate-limits/shared-labels.ts';
import type { HeaderSetters } from '../set-headers.ts';
import { corsOf } from './cors.ts';
import { errorBodies } from './error-bodies.ts';
import { hashPolicyOf } from './hash-policy.ts';
import { headerChanges } from './header-changes.ts';
import { repeats } from './late-tries.ts';
import { toRank, toRouteMatch } from './mapping-match.ts';
import { NO_END, retriesOf } from './retry-policy.ts';
import { toRewrite } from './rewrite.ts';
import type { RouteEntry } from './route-entry.ts';
import { routeParts } from './route-parts.ts';
import { mirrorPolicies, type Shadow } from './shadows.ts';
import { splitTraffic } from './traffic-split.ts';
import { mappingUpgrades, upgradeConfigs } from './upgrades.ts';

/** A Mapping and the cluster of its service. */
export type MappingTarget = {
  readonly mapping: Resource<'Mapping'>;
  readonly cluster: NamedCluster;
};

/**
 * Mappings that match the same requests. The first gives what cannot differ, but for the labels.
 * Never empty.
 */
export type MappingGroup = readonly [MappingTarget, ...MappingTarget[]];

/** Settings that a route has once, whatever the number of Mappings. */
const SHARED_FIELDS = [
  'rewrite',
  'regex_rewrite',
  'auto_host_rewrite',
  'timeout_ms',
  'allow_upgrade',
  'bypass_auth',
  'cors',
  'retry_policy',
  'load_balancer',
  'priority',
  'idle_timeout_ms',
  'error_response_overrides',
] as const;

/** What routes have at the edge only: labels, and filters. */
export type EdgeRoutes = Pick<EdgeFilters, 'comparesPaths' | 'takenOnBypass'> & {
  readonly labellings: Labellings;
  readonly settersOf: HeaderSetters;
};

/** Returns the route that these Mappings share. `shadows` get copies of its requests. */
export function mappingRoute(
  group: MappingGroup,
  shadows: readonly Shadow[],
  edge: EdgeRoutes | undefined,
): RouteEntry {
  const [{ mapping }] = group;
  const { id, spec } = mapping;
  const [limited, limits] =
    edge === undefined
      ? [{}, {}]
      : routeRateLimits({ labels: sharedLabels(mappingsOf(group)) }, edge.labellings);
  const bypass = edge !== undefined && spec.bypass_auth ? WITHOUT_FILTERS : {};
  return {
    rank: toRank(spec, id),
    route: {
      name: id,
      match: toRouteMatch(spec),
      route: { ...routeAction(group, edge), ...mirrorPolicies(shadows), ...limited },
      ...routeParts(
        bypass,
        limits,
        corsOf(spec.cors),
        errorBodies(spec.error_response_overrides),
        edge === undefined ? {} : repeats(spec),
        group.length === 1 ? changesOf(mapping, group, edge) : {},
      ),
    },
    origins: [...group, ...shadows].map(({ mapping: { id } }) => id),
  };
}

/**
 * Each of several Mappings changes the headers of its own share. Headers that only Filters may set
 * are removed from the client's request where no Filter runs.
 */
function changesOf(
  mapping: Resource<'Mapping'>,
  [first]: MappingGroup,
  edge: EdgeRoutes | undefined,
): JsonObject {
  const { spec } = first.mapping;
  const taken =
    edge !== undefined && spec.bypass_auth ? edge.takenOnBypass(mappingDomain(spec)) : [];
  return headerChanges(mapping.spec, taken, edge?.settersOf);
}

function routeAction(group: MappingGroup, edge: EdgeRoutes | undefined): JsonObject {
  const [{ mapping }] = group;
  return {
    ...clusterSpecifier(group, edge),
    ...toRewrite(mapping.spec),
    ...autoHostRewrite(group),
    timeout: NO_END,
    ...idleTimeout(mapping.spec),
    ...(mapping.spec.priority === 'high' ? { priority: 'HIGH' } : {}),
    ...upgradeConfigs(mappingUpgrades(mapping.spec)),
    ...hashPolicyOf(mapping.spec.load_balancer),
    ...retriesOf(mapping.spec),
  };
}

function idleTimeout({ idle_timeout_ms, timeout_ms }: MappingSpec): JsonObject {
  const allowed = idle_timeout_ms ?? (timeout_ms > STREAM_IDLE_MS ? timeout_ms : undefined);
  return allowed === undefined ? {} : { idle_timeout: toDuration(allowed) };
}

function clusterSpecifier(group: MappingGroup, edge: EdgeRoutes | undefined): JsonObject {
  const [only, ...others] = group;
  if (others.length === 0) return target(only);
  const { weights } = splitOf(group);
  const clusters: Json[] = group.map(({ mapping, cluster }, index) => ({
    name: cluster.name,
    weight: weights[index] ?? 0,
    ...hostRewrite(mapping),
    ...changesOf(mapping, group, edge),
  }));
  return { weighted_clusters: { clusters } };
}

function target({ mapping, cluster }: MappingTarget): JsonObject {
  return { cluster: cluster.name, ...hostRewrite(mapping) };
}

function hostRewrite({ spec: { host_rewrite } }: Resource<'Mapping'>): JsonObject {
  return host_rewrite === undefined ? {} : { host_rewrite_literal: host_rewrite };
}

/** It stands beside a `host_rewrite`, which counts for its own cluster. */
function autoHostRewrite([{ mapping }, ...others]: MappingGroup): JsonObject {
  const { auto_host_rewrite, host_rewrite } = mapping.spec;
  return auto_host_rewrite && (others.length > 0 || host_rewrite === undefined)
    ? { auto_host_rewrite }
    : {};
}

function splitOf(group: MappingGroup) {
  return splitTraffic(group.map(({ mapping }) => mapping.spec.weight));
}

/**
 * Returns Problems of Mappings that share a route: weights, and settings of which only the first's
 * counts.
 */
export function mappingGroupProblems(group: MappingGroup): readonly Problem[] {
  const [first, ...others] = group;
  if (others.length === 0) return [];
  const { warning } = splitOf(group);
  const message = `${warning}. It shares its requests with ${named(others)}`;
  const split =
    warning === undefined ? [] : [problemOf(first.mapping, 'warning', 'spec.weight', message)];
  return [
    ...split,
    ...others.flatMap(({ mapping }) => overruled(mapping, first.mapping)),
    ...sharedLabelProblems(mappingsOf(group)),
  ];
}

function mappingsOf(group: MappingGroup): readonly Resource<'Mapping'>[] {
  return group.map(({ mapping }) => mapping);
}

const MOST_NAMED = 5;

function named(others: readonly MappingTarget[]): string {
  const ids = others.slice(0, MOST_NAMED).map(({ mapping }) => mapping.id);
  const more = others.length - ids.length;
  return [...ids, ...(more === 0 ? [] : [`${more} more`])].join(', ');
}

function overruled(mapping: Resource<'Mapping'>, first: Resource<'Mapping'>): readonly Problem[] {
  return SHARED_FIELDS.filter(field => meaning(mapping, field) !== meaning(first, field)).map(
    field => problemOf(mapping, 'warning', `spec.${field}`, whyOverruled(field, mapping, first)),
  );
}

/** A cluster has its own policy of balancing. The route says by what of a request it hashes. */
function whyOverruled(
  field: (typeof SHARED_FIELDS)[number],
  { spec }: Resource<'Mapping'>,
  { id }: Resource<'Mapping'>,
): string {
  const { load_balancer } = spec;
  const isHashed = load_balancer !== undefined && isHashing(load_balancer);
  return field === 'load_balancer' && !isHashed
    ? `it keeps no client at an instance, as that of ${id} does, which matches the same requests. Write it here too`
    : `\`${field}\` is that of ${id}, which matches the same requests: they share one route`;
}

/** Returns the same text for all spellings. `use_websocket` is one. */
function meaning({ spec }: Resource<'Mapping'>, field: (typeof SHARED_FIELDS)[number]): string {
  if (field === 'allow_upgrade') return mappingUpgrades(spec).join();
  if (field === 'load_balancer') return JSON.stringify(hashPolicyOf(spec.load_balancer));
  return JSON.stringify(spec[field]);
}
