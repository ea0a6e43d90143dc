import { EDGE } from '#controlplane/compile/node-groups.ts';
import {
  type Labelling,
  labelGroups,
  labellings,
} from '#controlplane/compile/rate-limits/labelling.ts';
import { limitNames } from '#controlplane/compile/rate-limits/limit-name.ts';
import type { Limit } from '#resources/kinds/rate-limit/rate-limit-spec.ts';
import type { LabelSpecifier } from '#resources/labels/label-specifier.ts';
import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { mayCount } from './may-count.ts';

/** A limit with its name and RateLimit. */
export type NamedLimit = {
  readonly name: string;
  readonly limit: Limit;
  readonly of: Resource<'RateLimit'>;
};

/** Returns the limits of a RateLimit. */
export function limitsOf(rateLimit: Resource<'RateLimit'>): readonly NamedLimit[] {
  const names = limitNames(rateLimit);
  return rateLimit.spec.limits.map((limit, index) => ({
    name: names[index] ?? '',
    limit,
    of: rateLimit,
  }));
}

/** Which limits may count the requests of a Mapping, on one side of a change. */
export type RouteLimits = {
  readonly all: readonly NamedLimit[];
  mayCount(limit: NamedLimit, mapping: Resource<'Mapping'>): boolean;
  /** The same of requests with the default labels alone, as routes of Gateways have them. */
  mayCountDefaults(limit: NamedLimit): boolean;
};

export function routeLimits(resources: ResourceSet): RouteLimits {
  const byDomain = new Map(labellings(resources).domains.map(each => [each.domain, each]));
  return {
    all: resources.rateLimits.flatMap(limitsOf),
    mayCount: ({ limit, of }, { spec }) => {
      const labelling = byDomain.get(of.spec.domain);
      if (labelling === undefined || spec.node_group !== EDGE) return false;
      if (spec.host_redirect || spec.shadow) return false;
      return labelsOf(spec, labelling).some(labels => mayCount(limit.pattern, labels));
    },
    mayCountDefaults: ({ limit, of }) =>
      mayCount(limit.pattern, byDomain.get(of.spec.domain)?.defaults ?? []),
  };
}

function labelsOf(
  spec: Resource<'Mapping'>['spec'],
  labelling: Labelling,
): readonly (readonly LabelSpecifier[])[] {
  const groups = labelGroups(spec, labelling);
  return groups.length > 0 ? groups.map(({ specifiers }) => specifiers) : [labelling.defaults];
}
