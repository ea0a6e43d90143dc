import {
  type OrderedRule,
  orderedRules,
  ruleFinder,
} from '#controlplane/compile/ext-authz/rule-order.ts';
import { mappingDomain } from '#controlplane/compile/mapping-domain.ts';
import { EDGE } from '#controlplane/compile/node-groups.ts';
import type { MappingSpec } from '#resources/kinds/mapping/mapping-spec.ts';
import { canonicalPath } from '#resources/match/canonical-path.ts';
import type { ResourceSet } from '#resources/resource-set.ts';

/**
 * Which Filters decide about a route.
 * - `all`: every path of it meets a Filter.
 * - `part`: some do, others pass.
 * - `none`: no FilterPolicy has a rule with Filters for it.
 * - `bypass`: it has `bypass_auth`.
 */
export type Coverage = {
  readonly covered: 'all' | 'part' | 'none' | 'bypass';
  readonly filters: readonly string[];
};

/** Returns the function that says which Filters decide about a Mapping. */
export function coverageOf({ filterPolicies }: ResourceSet): (spec: MappingSpec) => Coverage {
  const find = ruleFinder(orderedRules(filterPolicies));
  return spec => {
    if (spec.node_group !== EDGE) return { covered: 'none', filters: [] };
    const rules = samples(spec).map(path => find(sampleHost(spec), path));
    const filters = [...new Set(rules.flatMap(filtersOf))];
    if (spec.bypass_auth) return { covered: 'bypass', filters: [] };
    const closing = rules.filter(rule => rule?.closes === true).length;
    const covered = closing === rules.length ? 'all' : closing > 0 ? 'part' : 'none';
    return { covered, filters };
  };
}

function filtersOf(rule: OrderedRule | undefined): readonly string[] {
  if (rule === undefined) return [];
  const { namespace: own, spec } = rule.policy;
  const index = Number(/\d+/.exec(rule.field)?.[0]);
  return (spec.rules[index]?.filters ?? []).map(
    ({ name, namespace = own }) => `${namespace}/${name}`,
  );
}

/** Paths that stand for all of a Mapping: `/user` also covers `/user/a` and `/usera`. */
function samples({ prefix, prefix_exact, prefix_regex }: MappingSpec): readonly string[] {
  if (prefix_regex) return [/^[\w/.-]*/.exec(prefix)?.[0] || '/'];
  const path = canonicalPath(prefix);
  if (prefix_exact) return [path];
  const base = path.replace(/\/$/, '');
  return [`${base}/a`, `${base}/`, ...(path.endsWith('/') ? [] : [path, `${path}a`])];
}

/** A name that the Mapping's host covers. */
function sampleHost(spec: MappingSpec): string {
  const domain = mappingDomain(spec);
  if (domain === '*') return 'any.invalid';
  return domain.replace(/^\*/, 'any');
}
