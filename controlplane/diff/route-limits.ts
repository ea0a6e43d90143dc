import { Memo } from '#controlplane/compile/memo.ts';
import { EDGE } from '#controlplane/compile/node-groups.ts';
import {
  type Labelling,
  labelGroups,
  labellings,
} from '#controlplane/compile/rate-limits/labelling.ts';
import { limitNames } from '#controlplane/compile/rate-limits/limit-name.ts';
import { sharedLabels } from '#controlplane/compile/rate-limits/shared-labels.ts';
import { byBypass } from '#controlplane/compile/routes/mapping-groups.ts';
import { sharingMappings } from '#controlplane/compile/routes/mapping-shares.ts';
import type { GatewayApi, ServedRule } from '#controlplane/gateway-api/served-gateway.ts';
import { hasTargets } from '#controlplane/gateway-api/targeted-policies.ts';
import type { MappingSpec } from '#resources/kinds/mapping/mapping-spec.ts';
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

/** Which limits may count the requests of routes, on one side of a change. */
export type RouteLimits = {
  readonly all: readonly NamedLimit[];
  mayCount(limit: NamedLimit, mapping: Resource<'Mapping'>): boolean;
  /** The same of a route of Gateways, by its id. It has the default labels, and may be a target. */
  mayCountRoute(limit: NamedLimit, route: string): boolean;
  /** Returns the names of the limits that may count requests of a route of Gateways. */
  namesOf(route: string): readonly string[];
  /**
   * Returns the rules of routes of Gateways, and whether they are targets of the RateLimit. The key
   * is the listener, the route and what the rule matches, since its place changes with other rules.
   */
  rulesOf(rateLimit: Resource<'RateLimit'>): ReadonlyMap<string, boolean>;
};

export function routeLimits(resources: ResourceSet, api: GatewayApi): RouteLimits {
  const byDomain = new Map(labellings(resources).domains.map(each => [each.domain, each]));
  const all = resources.rateLimits.flatMap(limitsOf);
  const rules = all.some(({ of }) => hasTargets(of)) ? servedRules(api) : [];
  const targets = new Set(
    rules.flatMap(({ id, rule }) => rule.limits.map(limit => `${limit.id} ${id}`)),
  );
  const counted = new Map<string, readonly string[]>();
  const labelled = all.length === 0 ? undefined : requestLabels(resources);
  const mayCountRoute = ({ limit, of }: NamedLimit, route: string) => {
    const labelling = byDomain.get(of.spec.domain);
    if (hasTargets(of)) return labelling !== undefined && targets.has(`${of.id} ${route}`);
    return mayCount(limit.pattern, labelling?.defaults ?? []);
  };
  return {
    all,
    mayCount: ({ limit, of }, { spec }) => {
      const labelling = byDomain.get(of.spec.domain);
      const labels = labelled?.get(spec);
      if (labelling === undefined || hasTargets(of) || labels === undefined) return false;
      return labelsOf({ labels }, labelling).some(labels => mayCount(limit.pattern, labels));
    },
    mayCountRoute,
    namesOf: route => {
      const known =
        counted.get(route) ??
        all.filter(limit => mayCountRoute(limit, route)).map(({ name }) => name);
      counted.set(route, known);
      return known;
    },
    rulesOf: ({ id }) =>
      new Map(
        rules.map(({ key, rule }) => [key, rule.limits.some(limit => limit.id === id)] as const),
      ),
  };
}

function servedRules({ gateways }: GatewayApi) {
  return gateways.flatMap(({ listeners }) =>
    listeners.flatMap(listener =>
      listener.routes.flatMap(({ route: { id }, rules }) =>
        rules.map((rule: ServedRule<{ readonly matches?: unknown }>) => {
          const key = JSON.stringify([listener.id, id, rule.rule.matches]);
          return { id, key, rule };
        }),
      ),
    ),
  );
}

function isCounted({ host_redirect, node_group, shadow }: MappingSpec): boolean {
  return node_group === EDGE && !host_redirect && !shadow;
}

/** Returns the labels of the Mappings' requests, which some of them share. */
function requestLabels(resources: ResourceSet): ReadonlyMap<MappingSpec, MappingSpec['labels']> {
  const groups = sharingMappings(resources, new Memo()).map(group =>
    group.filter(({ spec }) => isCounted(spec)).sort((a, b) => byBypass(a.spec, b.spec)),
  );
  return new Map(
    groups.flatMap(group => {
      const labels = sharedLabels(group);
      return group.map(({ spec }) => [spec, labels] as const);
    }),
  );
}

function labelsOf(
  spec: Pick<MappingSpec, 'labels'>,
  labelling: Labelling,
): readonly (readonly LabelSpecifier[])[] {
  const groups = labelGroups(spec, labelling);
  return groups.length > 0 ? groups.map(({ specifiers }) => specifiers) : [labelling.defaults];
}
