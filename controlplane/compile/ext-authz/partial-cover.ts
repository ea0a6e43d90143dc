import { canonicalPath } from '#resources/match/canonical-path.ts';
import { parseGlob } from '#resources/match/glob.ts';
import { commonText, globCovers } from '#resources/match/glob-relation.ts';
import type { Problem } from '#resources/problem.ts';
import type { Resource } from '#resources/resource.ts';
import { domainGlob, mappingDomain } from '../mapping-domain.ts';
import { problemOf } from '../problem-of.ts';
import type { FindRule, OrderedRule } from './rule-order.ts';

type Mapping = Resource<'Mapping'>;

/**
 * Returns a warning for each rule that is for the prefix of a Mapping, and leaves paths of it
 * without a rule. A rule's `/adm` is one path, but a Mapping's `/adm` covers all paths that begin
 * so.
 */
export function partialCover(
  mappings: readonly Mapping[],
  rules: readonly OrderedRule[],
  find: FindRule,
): readonly Problem[] {
  const meant = Map.groupBy(rules.filter(isForPrefix), ({ path }) => trimmed(path.prefix));
  if (meant.size === 0) return [];
  const told = new Set<OrderedRule>();
  return mappings.flatMap(mapping => {
    const prefix = canonicalPath(mapping.spec.prefix);
    const some = isOpenTo(mapping) ? (meant.get(trimmed(prefix)) ?? []) : [];
    return some.flatMap(rule => {
      const path = told.has(rule) ? undefined : uncovered(mapping, prefix, rule, find);
      if (path === undefined) return [];
      told.add(rule);
      const message = `it covers only a part of Mapping ${mapping.namespace}/${mapping.name}: \`${path}\` matches no rule, and passes without filters. \`${prefix}*\` covers all of it`;
      return [problemOf(rule.policy, 'warning', `${rule.field}.path`, message)];
    });
  });
}

/** Other rules are plainly for a part. */
function isForPrefix({ closes, path: { inner, suffix } }: OrderedRule): boolean {
  return closes && inner.length === 0 && (suffix === undefined || suffix === '');
}

function isOpenTo({ spec }: Mapping): boolean {
  return !(spec.bypass_auth || spec.prefix_exact || spec.prefix_regex || spec.shadow);
}

function trimmed(path: string): string {
  return path.replace(/\/$/, '');
}

/**
 * Returns a path of the Mapping without a rule. A rule that opens a path is the operator's
 * decision.
 */
function uncovered(
  { spec }: Mapping,
  prefix: string,
  rule: OrderedRule,
  find: FindRule,
): string | undefined {
  if (globCovers(rule.path, parseGlob(`${prefix}*`))) return undefined;
  const host = commonText(rule.host, domainGlob(mappingDomain(spec)));
  if (host === undefined) return undefined;
  const base = trimmed(prefix);
  const paths = [`${base}/users`, base, `${base}/`, `${base}users`];
  return paths.find(
    path => path.startsWith(prefix) && path !== '' && find(host, path) === undefined,
  );
}
