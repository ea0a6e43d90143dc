import type { JsonObject } from '#protos/json.ts';
import type { Problem } from '#resources/problem.ts';
import type { Resource } from '#resources/resource.ts';
import type { EdgeFilters } from '../ext-authz/edge-filters.ts';
import { keptFilter } from '../kept-lists.ts';
import { mappingDomain } from '../mapping-domain.ts';
import type { Memo } from '../memo.ts';
import { problemOf } from '../problem-of.ts';
import { closedRoute } from './closed-route.ts';
import { isAnyCase } from './mapping-match.ts';
import type { RouteEntry } from './route-entry.ts';

type Mapping = Resource<'Mapping'>;
type Rules = Pick<EdgeFilters, 'comparesPaths'>;

/**
 * Returns the routes of a Mapping. Rules for paths compare letter case. Where such rules may apply,
 * a path in other letter case than the Mapping's would avoid them, and is closed.
 */
export function withLetterCase(
  entry: RouteEntry,
  mapping: Mapping,
  rules: Rules | undefined,
  memo: Memo,
): RouteEntry | readonly RouteEntry[] {
  if (rules === undefined || !isGuarded(mapping, rules)) return entry;
  const { kind, namespace, name, id, source, spec } = mapping;
  const own = memo.of(entry.route, 'letter case', [], () => inMappingCase(entry));
  return [own, closedRoute({ kind, namespace, name, id, source, match: spec })];
}

function isGuarded({ spec }: Mapping, { comparesPaths }: Rules): boolean {
  return isAnyCase(spec) && comparesPaths(mappingDomain(spec), spec.bypass_auth);
}

function inMappingCase({ rank, route, origins }: RouteEntry): RouteEntry {
  const { anyCase: _, ...sensitive } = rank;
  const { case_sensitive: __, ...match } = route.match as JsonObject;
  return { rank: sensitive, route: { ...route, match }, origins };
}

/**
 * Returns one Problem for each Mapping whose other letter case is closed, or that accepts it by an
 * expression of its own.
 */
export function letterCaseProblems(mappings: readonly Mapping[], rules: Rules): readonly Problem[] {
  return takingAnyCase(mappings).flatMap(mapping => {
    if (isGuarded(mapping, rules))
      return [problemOf(mapping, 'error', 'spec.case_sensitive', CLOSED)];
    const { bypass_auth } = mapping.spec;
    if (!folds(mapping) || !rules.comparesPaths(mappingDomain(mapping.spec), bypass_auth))
      return [];
    return [problemOf(mapping, 'warning', 'spec.prefix', OPEN)];
  });
}

const takingAnyCase = keptFilter((mapping: Mapping) => isAnyCase(mapping.spec) || folds(mapping));

function folds({ spec: { prefix, prefix_regex } }: Mapping): boolean {
  return prefix_regex && FOLDING.test(prefix);
}

/** RE2's flag for any letter case. */
const FOLDING = /\(\?[a-zA-Z]*i/;

const CLOSED =
  "paths in other letter case answer 500, since they would avoid the FilterPolicies' rules for paths here, which compare letter case";
const OPEN =
  "the expression matches any letter case, but the FilterPolicies' rules for paths here compare it. Paths in other letter case match no such rule";
