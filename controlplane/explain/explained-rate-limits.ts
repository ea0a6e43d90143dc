import type { CompileOptions } from '#controlplane/compile/options.ts';
import { labelGroups as labelGroupsOf, labelling } from '#controlplane/compile/rate-limits/labelling.ts';
import { formatHostPort } from '#grpc/host-port.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import type { EnvoyRequest } from './envoy-request.ts';
import { type ExplainedLimits, explainLimits, type NamedGroup } from './explained-limits.ts';
import type { Target } from './explained-route.ts';
import { labelGroups, type RequestGroup } from './label-groups.ts';
import { type OperatorLimit, operatorLimits } from './operator-limits.ts';
import type { Place } from './place.ts';
import { placeOf } from './place.ts';
import type { RouteMatch } from './route-match.ts';

/** The rate limits that a request meets. */
export type ExplainedRateLimits = {
  readonly domain: string;
  /** How many limits there are for domains that the edge does not ask for. */
  readonly otherDomains: readonly { readonly domain: string; readonly limits: number }[];
  /** The operator's own service, which the edge asks instead of the built-in one. */
  readonly service?: Place & { readonly address: string };
  /** One for each set of labels: several only where a label is the cluster that is chosen among several. */
  readonly cases: readonly RateLimitCase[];
};

export type RateLimitCase = ExplainedLimits & {
  readonly clusters: readonly string[];
  readonly groups: readonly ExplainedGroup[];
};

/** `name` as the operator wrote it. */
export type ExplainedGroup = RequestGroup & { readonly name: string };

export type RateLimitInputs = {
  readonly match: RouteMatch;
  readonly targets: readonly Target[];
  readonly request: EnvoyRequest;
  readonly nodeGroup: string;
  readonly resources: ResourceSet;
  readonly options: CompileOptions;
  readonly places: ReadonlyMap<string, Place>;
};

/** What the rate limit filter asks for a request, and what the service decides by. */
export function explainRateLimits(inputs: RateLimitInputs): ExplainedRateLimits {
  const { resources, options, places, targets } = inputs;
  const { domain } = labelling(resources);
  const limits = operatorLimits(resources, options);
  const byCluster = targets.map(({ cluster }) => ({ cluster, groups: groupsFor(cluster, inputs) }));
  const cases = [...Map.groupBy(byCluster, ({ groups }) => JSON.stringify(groups)).values()];
  return {
    domain,
    otherDomains: otherDomains(limits, domain),
    ...ownService(resources, places),
    cases: cases.map(same => {
      const groups = same[0]?.groups ?? [];
      const clusters = [...new Set(same.map(({ cluster }) => cluster))];
      return { clusters, groups, ...explainLimits(limits, domain, groups.filter(hasLabels), places) };
    }),
  };
}

function otherDomains(all: readonly OperatorLimit[], domain: string) {
  const others = all.filter(({ limit }) => limit.domain !== domain);
  const byDomain = Map.groupBy(others, ({ limit }) => limit.domain);
  return [...byDomain].map(([domain, limits]) => ({ domain, limits: limits.length }));
}

function groupsFor(cluster: string, { match, request, nodeGroup, resources }: RateLimitInputs) {
  const names = namesOf(match, resources);
  const groups = labelGroups(match, { request, nodeGroup, cluster });
  return groups.map((group, index): ExplainedGroup => ({ name: names[index] ?? 'default', ...group }));
}

/** Envoy is not told the names of groups: they are those of the Mapping, in the same order. */
function namesOf({ route }: RouteMatch, resources: ResourceSet): readonly string[] {
  const mapping = resources.mappings.find(({ id }) => id === route.name);
  if (mapping === undefined) return [];
  return labelGroupsOf(mapping.spec, labelling(resources)).map(({ name }) => name);
}

function hasLabels(group: ExplainedGroup): group is ExplainedGroup & NamedGroup {
  return 'labels' in group;
}

function ownService({ rateLimitServices }: ResourceSet, places: ReadonlyMap<string, Place>) {
  const [service] = rateLimitServices;
  if (service === undefined) return {};
  const { host, port } = service.spec.service;
  return { service: { ...placeOf(places, service.id), address: formatHostPort({ host, port }) } };
}
