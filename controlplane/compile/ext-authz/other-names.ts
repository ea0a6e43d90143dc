import { type Glob, matchGlob, parseGlob } from '#resources/match/glob.ts';
import { commonText, globCovers } from '#resources/match/glob-relation.ts';
import { startIndex } from '#resources/match/start-index.ts';
import type { Problem } from '#resources/problem.ts';
import type { Resource } from '#resources/resource.ts';
import { coveringDomains } from '../domain-cover.ts';
import { mappingDomain, mappingPaths } from '../mapping-domain.ts';
import { problemOf } from '../problem-of.ts';
import type { FindRule, OrderedRule } from './rule-order.ts';

type Mapping = Resource<'Mapping'>;

/** A name that stands in no resource. */
const ANY_NAME = 'any.invalid';
const EVERY_HOST = parseGlob('*');

/**
 * Returns a warning for each host of a policy whose Mapping is served on every name, while no rule
 * matches on a name that stands in no resource. `isOnAnyName` tells of Mappings for every host
 * whether they are served there. A client chooses the name by its `Host`, and so passes the Filters
 * by.
 */
export function otherNames(
  mappings: readonly Mapping[],
  rules: readonly OrderedRule[],
  find: FindRule,
  isOnAnyName: (mapping: Mapping) => boolean,
): readonly Problem[] {
  const some = rules.filter(({ closes, host }) => closes && !globCovers(host, EVERY_HOST));
  if (some.length === 0) return [];
  const byDomain = Map.groupBy(mappings.filter(isOpenTo), ({ spec }) => mappingDomain(spec));
  const onEvery = meeting((byDomain.get('*') ?? []).filter(isOnAnyName));
  const told = new Set<string>();
  return some.flatMap(rule => {
    const host = hostOf(rule);
    const key = `${rule.policy.id} ${host}`;
    if (told.has(key)) return [];
    for (const [mapping, path] of onEvery(rule.path)) {
      if (find(ANY_NAME, path) !== undefined || hasOwn(byDomain, host, path)) continue;
      told.add(key);
      return [warningOf(rule, mapping, path)];
    }
    return [];
  });
}

/** Which names or paths an expression is for is not known. */
function isOpenTo({ spec }: Mapping): boolean {
  return !(spec.bypass_auth || spec.host_regex || spec.prefix_regex || spec.shadow);
}

/** Returns the Mappings that a rule's path meets, each with such a path, one after the other. */
function meeting(
  mappings: readonly Mapping[],
): (path: Glob) => Iterable<readonly [Mapping, string]> {
  const placed = mappings.map(mapping => ({ mapping, paths: mappingPaths(mapping.spec) }));
  const around = startIndex(placed, ({ paths }) => paths.prefix);
  return function* (path) {
    for (const { mapping, paths } of around(path.prefix)) {
      const common = commonText(path, paths);
      if (common !== undefined) yield [mapping, common];
    }
  };
}

/** Returns whether a Mapping for this host comes before those for every name. */
function hasOwn(
  byDomain: ReadonlyMap<string, readonly Mapping[]>,
  host: string,
  path: string,
): boolean {
  const own = coveringDomains(host).filter(domain => domain !== '*');
  return own
    .flatMap(domain => byDomain.get(domain) ?? [])
    .some(({ spec }) => matchGlob(mappingPaths(spec), path));
}

function hostOf({ index, policy }: OrderedRule): string {
  return policy.spec.rules[index]?.host ?? '';
}

function warningOf(rule: OrderedRule, { name, namespace }: Mapping, path: string): Problem {
  const { field, policy } = rule;
  const message = `it is for \`${hostOf(rule)}\` alone, but Mapping ${namespace}/${name} is served on every name: \`${path}\` with another \`Host\` matches no rule, and passes without filters. Write \`host\` in the Mapping, or a Host for each name, or a rule for every host`;
  return problemOf(policy, 'warning', `${field}.host`, message);
}
