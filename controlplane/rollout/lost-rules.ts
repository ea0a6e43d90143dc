import { domainGlob, mappingDomain, mappingPaths } from '#controlplane/compile/mapping-domain.ts';
import { EDGE } from '#controlplane/compile/node-groups.ts';
import type { FilterPolicyRule } from '#resources/kinds/filter-policy/filter-policy.ts';
import { type PolicyTarget, targetText } from '#resources/kinds/gateway-api/policy-target.ts';
import { type Glob, parseGlob } from '#resources/match/glob.ts';
import { commonText } from '#resources/match/glob-relation.ts';
import { type Resource, type ResourcesById, resourceId } from '#resources/resource.ts';
import { type LostDemand, lostDemands } from './lost-demands.ts';

type Policy = Resource<'FilterPolicy'>;
type Route = Resource<'HTTPRoute'> | Resource<'GRPCRoute'>;

/** What a FilterPolicy restricts: the requests of a rule, or those of a target. */
type Restriction = {
  readonly by: Policy;
  /** Equal for equal restrictions, whatever policy has them. */
  readonly key: string;
  readonly restricts: { readonly rule: FilterPolicyRule } | { readonly target: PolicyTarget };
};

/** A restriction that one version has and the next one does not. */
export type LostRule =
  | LostDemand
  | (Restriction & {
      /** Returns true when in doubt, as for an expression. */
      mayCover(resource: Resource): boolean;
    });

/** A resource without a rule that it was under. */
export type Opened = { readonly resource: Resource; readonly rule: LostRule };

/**
 * Returns those of the Hosts, Mappings, routes, Gateways and ListenerSets that are more open among
 * these resources than in each of the `versions` that has them as they are. One that no version has
 * is compared with the last.
 */
export function openedResources(
  some: Iterable<Resource>,
  resources: ResourcesById,
  versions: readonly ResourcesById[],
): readonly Opened[] {
  const compared = versions.map(version => ({ version, lost: lostIn(version, resources) }));
  if (compared.every(({ lost }) => lost.length === 0)) return [];
  return [...some].flatMap(resource => {
    const { hash, id } = resource;
    const having = compared.filter(({ version }) => version.get(id)?.hash === hash);
    const rules = (having.length > 0 ? having : compared.slice(-1)).map(({ lost }) =>
      lost.find(({ mayCover }) => mayCover(resource)),
    );
    const [rule] = rules;
    return rule === undefined || rules.includes(undefined) ? [] : [{ resource, rule }];
  });
}

function lostIn(before: ResourcesById, after: ResourcesById): readonly LostRule[] {
  return [...lostRules(before, after), ...lostDemands(before, after)];
}

/**
 * Returns the rules and targets with Filters of one version that the next one does not have.
 * Unchanged policies are not looked into, since there may be 10,000 rules.
 */
function lostRules(before: ResourcesById, after: ResourcesById): readonly LostRule[] {
  const changed = [...before.values()]
    .filter(resource => resource.kind === 'FilterPolicy')
    .filter(({ id, hash }) => after.get(id)?.hash !== hash);
  if (changed.length === 0) return [];
  const policies = [...after.values()].filter(resource => resource.kind === 'FilterPolicy');
  const stays = new Set(policies.flatMap(restrictionsOf).map(({ key }) => key));
  return changed
    .flatMap(restrictionsOf)
    .filter(({ key }) => !stays.has(key))
    .map(lost => ({ ...lost, mayCover: coverOf(lost) }));
}

/** A Filter without a namespace is looked up in that of the policy. */
function restrictionsOf(policy: Policy): readonly Restriction[] {
  const { namespace, spec } = policy;
  const { filters = [], targetRefs = [] } = spec;
  const targets = filters.length === 0 ? [] : targetRefs;
  return [
    ...spec.rules
      .filter(rule => rule.filters.length > 0)
      .map(rule => {
        const key = JSON.stringify([namespace, rule.host, rule.path, rule.filters]);
        return { by: policy, key, restricts: { rule } };
      }),
    ...targets.map(target => {
      const key = JSON.stringify([namespace, targetText(target), filters]);
      return { by: policy, key, restricts: { target } };
    }),
  ];
}

function coverOf({ by: { namespace }, restricts }: Restriction): LostRule['mayCover'] {
  if ('target' in restricts) {
    const { kind, name } = restricts.target;
    const id = resourceId(kind, namespace, name);
    return resource => resource.id === id || (isRoute(resource) && mayAttach(resource, id));
  }
  const [host, path] = [parseGlob(restricts.rule.host), parseGlob(restricts.rule.path)];
  return resource => mayMatch(host, path, resource);
}

function mayMatch(host: Glob, path: Glob, resource: Resource): boolean {
  const meets = (glob: Glob, others: readonly Glob[]) =>
    others.some(other => commonText(glob, other) !== undefined);
  return meets(host, hostsOf(resource)) && meets(path, pathsOf(resource));
}

function isRoute(resource: Resource): resource is Route {
  return resource.kind === 'HTTPRoute' || resource.kind === 'GRPCRoute';
}

const EVERY = parseGlob('*');

/** Returns globs for all hosts that Filters run for. Those of a route may be its listeners'. */
function hostsOf(resource: Resource): readonly Glob[] {
  if (isRoute(resource)) {
    const { hostnames } = resource.spec;
    return hostnames.length === 0 ? [EVERY] : hostnames.map(domainGlob);
  }
  if (resource.kind !== 'Mapping') return [];
  const { bypass_auth, node_group, shadow } = resource.spec;
  return bypass_auth || shadow || node_group !== EDGE
    ? []
    : [domainGlob(mappingDomain(resource.spec))];
}

/** Returns globs for all paths, and perhaps more. */
function pathsOf(resource: Resource): readonly Glob[] {
  if (resource.kind === 'Mapping') return [mappingPaths(resource.spec)];
  if (resource.kind !== 'HTTPRoute') return [EVERY];
  const matches = resource.spec.rules.flatMap(rule => rule.matches);
  return matches.map(({ path: { type, value } }) =>
    mappingPaths({
      case_sensitive: true,
      prefix: value,
      prefix_exact: type === 'Exact',
      prefix_regex: type === 'RegularExpression',
    }),
  );
}

/** A ListenerSet belongs to a Gateway, which may be any. */
function mayAttach({ namespace: own, spec }: Route, id: string): boolean {
  return (
    spec.useDefaultGateways === 'All' ||
    spec.parentRefs.some(
      ({ kind, name, namespace = own }) =>
        kind === 'ListenerSet' || resourceId(kind, namespace, name) === id,
    )
  );
}
