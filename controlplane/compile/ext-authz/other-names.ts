import { type Glob, matchGlob, parseGlob } from '#resources/match/glob.ts';
import { indexGlobs, visitCandidates } from '#resources/match/glob-index.ts';
import { commonText, genericText, globCovers } from '#resources/match/glob-relation.ts';
import { meetingIndex } from '#resources/match/start-index.ts';
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
 * The most Mappings that are tried for all rules together. Without this bound many rules beside
 * many Mappings would cost their product. A warning is advice, and no decision depends on it.
 */
const MOST_TRIES = 500_000;

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
  const hasOwn = ownMappings(byDomain);
  const told = new Set<string>();
  let tries = 0;
  return some.flatMap(rule => {
    const host = hostOf(rule);
    const key = `${rule.policy.id} ${host}`;
    const passes = (path: string) => find(ANY_NAME, path) === undefined && !hasOwn(host, path);
    if (told.has(key) || !passes(rooted(genericText(rule.path)))) return [];
    for (const [mapping, path] of onEvery(rule.path)) {
      if (++tries > MOST_TRIES) break;
      if (!passes(path)) continue;
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
  const around = meetingIndex(placed, ({ paths }) => paths);
  return function* (path) {
    for (const { mapping, paths } of around(path)) {
      const common = commonText(path, paths);
      if (common !== undefined) yield [mapping, rooted(common)];
    }
  };
}

/** Every path begins so, whatever a glob says. */
function rooted(path: string): string {
  return path.startsWith('/') ? path : `/${path}`;
}

/** Returns what tells whether a Mapping for a host comes before those for every name. */
function ownMappings(
  byDomain: ReadonlyMap<string, readonly Mapping[]>,
): (host: string, path: string) => boolean {
  const indexes = new Map(
    [...byDomain].map(([domain, some]) => {
      const paths = some.map(({ spec }) => mappingPaths(spec));
      return [
        domain,
        indexGlobs(
          paths,
          glob => glob,
          globs => globs,
        ),
      ];
    }),
  );
  return (host, path) =>
    coveringDomains(host).some(domain => {
      const index = domain === '*' ? undefined : indexes.get(domain);
      let isOwn = false;
      if (index !== undefined)
        visitCandidates(index, path, globs => {
          isOwn ||= globs.some(glob => matchGlob(glob, path));
        });
      return isOwn;
    });
}

function hostOf({ index, policy }: OrderedRule): string {
  return policy.spec.rules[index]?.host ?? '';
}

function warningOf(rule: OrderedRule, { name, namespace }: Mapping, path: string): Problem {
  const { field, policy } = rule;
  const message = `it is for \`${hostOf(rule)}\` alone, but Mapping ${namespace}/${name} is served on every name: \`${path}\` with another \`Host\` matches no rule, and passes without filters. Write \`host\` in the Mapping, or a Host for each name, or a rule for every host`;
  return problemOf(policy, 'warning', `${field}.host`, message);
}
