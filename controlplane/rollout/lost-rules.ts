import { domainGlob, mappingDomain, mappingPaths } from '#controlplane/compile/mapping-domain.ts';
import { EDGE } from '#controlplane/compile/node-groups.ts';
import type { FilterPolicyRule } from '#resources/kinds/filter-policy/filter-policy.ts';
import { type Glob, parseGlob } from '#resources/match/glob.ts';
import { commonText } from '#resources/match/glob-relation.ts';
import type { Resource } from '#resources/resource.ts';
import type { Resources } from './rollout.ts';

type Mapping = Resource<'Mapping'>;
type Policy = Resource<'FilterPolicy'>;

/** A rule with Filters that one version has and the next one does not. */
export type LostRule = {
  readonly policy: Policy;
  readonly rule: FilterPolicyRule;
  /** Returns true when in doubt, as for an expression. */
  mayCover(mapping: Mapping): boolean;
};

/** A Mapping without a rule that it was under. */
export type OpenedMapping = { readonly mapping: Mapping; readonly rule: LostRule };

/**
 * Returns those of the Mappings that are more open among these resources than in each of the
 * `versions` that has them as they are. One that no version has is compared with the last.
 */
export function openedMappings(
  mappings: Iterable<Resource>,
  resources: Resources,
  versions: readonly Resources[],
): readonly OpenedMapping[] {
  const compared = versions.map(version => ({ version, lost: lostRules(version, resources) }));
  if (compared.every(({ lost }) => lost.length === 0)) return [];
  return [...mappings].flatMap(mapping => {
    if (mapping.kind !== 'Mapping') return [];
    const having = compared.filter(({ version }) => version.get(mapping.id)?.hash === mapping.hash);
    const rules = (having.length > 0 ? having : compared.slice(-1)).map(({ lost }) =>
      lost.find(({ mayCover }) => mayCover(mapping)),
    );
    const [rule] = rules;
    return rule === undefined || rules.includes(undefined) ? [] : [{ mapping, rule }];
  });
}

/**
 * Returns the rules with Filters of one version that the next one does not have. Unchanged policies
 * are not looked into, since there may be 10,000 rules.
 */
function lostRules(before: Resources, after: Resources): readonly LostRule[] {
  const changed = [...before.values()]
    .filter(resource => resource.kind === 'FilterPolicy')
    .filter(({ id, hash }) => after.get(id)?.hash !== hash);
  if (changed.length === 0) return [];
  const policies = [...after.values()].filter(resource => resource.kind === 'FilterPolicy');
  const stays = new Set(policies.flatMap(rulesOf).map(textOf));
  return changed
    .flatMap(rulesOf)
    .filter(each => each.rule.filters.length > 0 && !stays.has(textOf(each)))
    .map(({ policy, rule }) => {
      const [host, path] = [parseGlob(rule.host), parseGlob(rule.path)];
      return { policy, rule, mayCover: mapping => mayCover(host, path, mapping) };
    });
}

type Rule = Pick<LostRule, 'policy' | 'rule'>;

function rulesOf(policy: Policy): readonly Rule[] {
  return policy.spec.rules.map(rule => ({ policy, rule }));
}

/** A Filter without a namespace is looked up in that of the policy. */
function textOf({ policy: { namespace }, rule: { filters, host, path } }: Rule): string {
  return JSON.stringify([namespace, host, path, filters]);
}

function mayCover(host: Glob, path: Glob, { spec }: Mapping): boolean {
  if (spec.bypass_auth || spec.shadow || spec.node_group !== EDGE) return false;
  const hosts = domainGlob(mappingDomain(spec));
  return (
    commonText(host, hosts) !== undefined && commonText(path, mappingPaths(spec)) !== undefined
  );
}
