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
import type { RoutePath } from './routes.ts';

/**
 * Which Filters decide about a route.
 * - `all`: every path of it meets a Filter.
 * - `part`: some do, others pass.
 * - `none`: no FilterPolicy has a rule with Filters for it, and it names none.
 * - `bypass`: it has `bypass_auth`.
 * - `bytes`: it is for connections, which no Filter sees.
 */
export type Coverage = {
  readonly covered: 'all' | 'part' | 'none' | 'bypass' | 'bytes';
  readonly filters: readonly string[];
};

/** Requests of a route of Gateways: those of one of its hosts and paths, and its own Filters. */
export type RoutePart = {
  readonly host: string;
  readonly path: RoutePath;
  readonly filters: readonly string[];
};

/** Says which Filters decide about a Mapping, and about requests of a route of Gateways. */
export type FindCoverage = {
  ofMapping(spec: MappingSpec): Coverage;
  ofParts(parts: readonly RoutePart[]): Coverage;
};

export function coverageOf({ filterPolicies }: ResourceSet): FindCoverage {
  const find = ruleFinder(orderedRules(filterPolicies));
  const decided = (parts: readonly Sample[]): Coverage => {
    const found = parts.map(({ host, path, filters }) => ({ filters, rule: find(host, path) }));
    const names = found.flatMap(({ filters, rule }) => [...filters, ...filtersOf(rule)]);
    const closing = found.filter(
      ({ filters, rule }) => filters.length > 0 || rule?.closes === true,
    ).length;
    const covered = closing === 0 ? 'none' : closing === found.length ? 'all' : 'part';
    return { covered, filters: [...new Set(names)] };
  };
  return {
    ofMapping: spec => {
      if (spec.node_group !== EDGE) return { covered: 'none', filters: [] };
      if (spec.bypass_auth) return { covered: 'bypass', filters: [] };
      const host = sampleHost(mappingDomain(spec));
      return decided(samples(spec).map(path => ({ host, path, filters: [] })));
    },
    ofParts: parts =>
      decided(
        parts.flatMap(({ filters, host, path }) =>
          samplesOfPath(path).map(each => ({ host: sampleHost(host), path: each, filters })),
        ),
      ),
  };
}

type Sample = { readonly host: string; readonly path: string; readonly filters: readonly string[] };

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

/** Unlike a Mapping's prefix, `/user` covers `/user/a` alone. */
function samplesOfPath({ path: written, type }: RoutePath): readonly string[] {
  if (type === 'regex') return [/^[\w/.-]*/.exec(written)?.[0] || '/'];
  const path = canonicalPath(written);
  if (type === 'exact') return [path];
  const base = path.replace(/\/$/, '');
  return [...(base === '' || type === 'prefix' ? [] : [base]), `${base}/`, `${base}/a`];
}

/** A name that the domain covers. */
function sampleHost(domain: string): string {
  if (domain === '*') return 'any.invalid';
  return domain.replace(/^\*/, 'any');
}
