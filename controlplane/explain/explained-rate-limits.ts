import {
  type Labelling,
  labelGroups as labelGroupsOf,
  labellings,
} from '#controlplane/compile/rate-limits/labelling.ts';
import { stageOf } from '#controlplane/compile/rate-limits/rate-limit-filter.ts';
import { sharedLabels } from '#controlplane/compile/rate-limits/shared-labels.ts';
import { formatHostPort } from '#grpc/host-port.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import type { EnvoyRequest } from './envoy-request.ts';
import { type ExplainedLimits, explainLimits, type NamedGroup } from './explained-limits.ts';
import { mappingsSharing, type Target } from './explained-route.ts';
import { labelGroups, type RequestGroup } from './label-groups.ts';
import type { OperatorLimit } from './operator-limits.ts';
import type { Place } from './place.ts';
import { placeOf } from './place.ts';
import type { RouteMatch } from './route-match.ts';

/** The rate limits that apply to a request. */
export type ExplainedRateLimits = {
  /** Domains that the edge asks for. */
  readonly domains: readonly string[];
  /** The number of limits in domains that the edge does not ask for. */
  readonly otherDomains: readonly { readonly domain: string; readonly limits: number }[];
  /** The operator's own service. The edge asks it instead of the built-in one. */
  readonly service?: Place & { readonly address: string };
  /**
   * One for each set of labels. There are several only where a label is the cluster that Envoy
   * chooses.
   */
  readonly cases: readonly RateLimitCase[];
};

export type RateLimitCase = ExplainedLimits & {
  readonly clusters: readonly string[];
  readonly groups: readonly ExplainedGroup[];
};

/** `name` as the operator wrote it. */
export type ExplainedGroup = RequestGroup & { readonly name: string; readonly domain: string };

export type RateLimitInputs = {
  readonly match: RouteMatch;
  readonly targets: readonly Target[];
  readonly request: EnvoyRequest;
  readonly nodeGroup: string;
  readonly resources: ResourceSet;
  /** Returns all limits of all domains, in the order of the rate limit service. */
  readonly limits: () => readonly OperatorLimit[];
  readonly places: ReadonlyMap<string, Place>;
};

/** Returns what the rate limit filter asks for a request, and what the service decides by. */
export function explainRateLimits(inputs: RateLimitInputs): ExplainedRateLimits {
  const { resources, places, targets } = inputs;
  const domains = labellings(resources).domains.map(({ domain }) => domain);
  const limits = inputs.limits();
  const byCluster = targets.map(({ cluster }) => ({ cluster, groups: groupsFor(cluster, inputs) }));
  const cases = [...Map.groupBy(byCluster, ({ groups }) => JSON.stringify(groups)).values()];
  return {
    domains,
    otherDomains: otherDomains(limits, domains),
    ...ownService(resources, places),
    cases: cases.map(same => {
      const groups = same[0]?.groups ?? [];
      const clusters = [...new Set(same.map(({ cluster }) => cluster))];
      const explained = domains.map(domain => {
        const ofDomain = groups.filter(hasLabels).filter(group => group.domain === domain);
        return explainLimits(limits, domain, ofDomain, places);
      });
      return {
        clusters,
        groups,
        applied: explained.flatMap(({ applied }) => applied),
        others: explained.flatMap(({ others }) => others),
      };
    }),
  };
}

function otherDomains(all: readonly OperatorLimit[], domains: readonly string[]) {
  const others = all.filter(({ limit }) => !domains.includes(limit.domain));
  const byDomain = Map.groupBy(others, ({ limit }) => limit.domain);
  return [...byDomain].map(([domain, limits]) => ({ domain, limits: limits.length }));
}

function groupsFor(cluster: string, { match, request, nodeGroup, resources }: RateLimitInputs) {
  return labellings(resources).domains.flatMap(labelling => {
    const { domain } = labelling;
    const names = namesOf(match, resources, labelling);
    const groups = labelGroups(match, { request, nodeGroup, cluster }, stageOf(domain));
    return groups.map(
      (group, index): ExplainedGroup => ({
        name: names[index] ?? targetGroup(group, resources) ?? 'default',
        domain,
        ...group,
      }),
    );
  });
}

/** The group of a limit with targets begins with a label of its own, which names it. */
function targetGroup(group: RequestGroup, { rateLimits }: ResourceSet): string | undefined {
  const [first] = 'labels' in group ? group.labels : [];
  const limits = rateLimits.flatMap(({ spec }) => spec.limits);
  const isOwn = limits.some(
    ({ labels: [own] }) => own?.type === 'generic_key' && own.value === first?.value,
  );
  return isOwn ? first?.value : undefined;
}

/** Envoy does not get the names of groups. They are those of the Mappings, in the same order. */
function namesOf(
  match: RouteMatch,
  resources: ResourceSet,
  labelling: Labelling,
): readonly string[] {
  const mappings = mappingsSharing(match, resources).filter(({ spec }) => !spec.shadow);
  return labelGroupsOf({ labels: sharedLabels(mappings) }, labelling).map(({ name }) => name);
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
