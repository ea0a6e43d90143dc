import { bypasses } from '#controlplane/compile/bypasses.ts';
import { filterKey } from '#controlplane/compile/ext-authz/filter-key.ts';
import { orderedRules } from '#controlplane/compile/ext-authz/rule-order.ts';
import { mappingDomain } from '#controlplane/compile/mapping-domain.ts';
import { EDGE } from '#controlplane/compile/node-groups.ts';
import type { MappingSpec } from '#resources/kinds/mapping/mapping-spec.ts';
import { canonicalPath } from '#resources/match/canonical-path.ts';
import type { Glob } from '#resources/match/glob.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { type Reached, ruleIndex } from './reached-rules.ts';

/**
 * Which Filters decide about a route.
 * - `all`: every request of it meets a Filter.
 * - `part`: some may, and others may pass.
 * - `none`: no FilterPolicy has a rule with Filters for it, and it names none.
 * - `bypass`: it has `bypass_auth`.
 * - `closed`: it has `closed: true`, or its rule names a Filter that is not there. It is answered
 *   500.
 * - `bytes`: it is for connections, which no Filter sees.
 */
export type Coverage = {
  readonly covered: 'all' | 'part' | 'none' | 'bypass' | 'closed' | 'bytes';
  readonly filters: readonly string[];
};

/**
 * What a request's path is to be. `segments` is a prefix that ends at a slash, as Gateway API has
 * it.
 */
export type RoutePath = {
  readonly path: string;
  readonly type: 'prefix' | 'segments' | 'exact' | 'regex';
  readonly method?: string;
  /** Further conditions, without values, which may be credentials. */
  readonly conditions?: readonly string[];
};

/** Requests of a route of Gateways: those of one of its hosts and paths, and its own Filters. */
export type RoutePart = {
  readonly host: string;
  readonly path: RoutePath;
  readonly filters: readonly string[];
  /** Whether one of its own Filters decides about each request. */
  readonly isSure: boolean;
};

/** Says which Filters decide about a Mapping, and about requests of a route of Gateways. */
export type FindCoverage = {
  ofMapping(spec: MappingSpec): Coverage;
  ofParts(parts: readonly RoutePart[]): Coverage;
};

export function coverageOf({ filterPolicies, filters, mappings }: ResourceSet): FindCoverage {
  const there = new Set(filters.map(({ name, namespace }) => filterKey(namespace, name)));
  const rulesIn = ruleIndex(orderedRules(filterPolicies));
  const sharing = mappings.filter(({ spec }) => spec.node_group === EDGE && !spec.shadow);
  const isBypassed = bypasses(sharing);
  const ofParts = (parts: readonly RoutePart[]): Coverage => {
    const found = parts.flatMap(({ filters, host, isSure, path }) =>
      globsOf(path).map(paths => joined(filters, isSure, decided(rulesIn(host, paths), there))),
    );
    const words = new Set(found.map(({ covered }) => covered));
    if (words.size > 1) words.delete('closed');
    const [covered = 'none'] = words.size > 1 ? ['part' as const] : words;
    return { covered, filters: [...new Set(found.flatMap(({ filters }) => filters))] };
  };
  return {
    ofMapping: spec => {
      if (spec.closed) return { covered: 'closed', filters: [] };
      if (spec.node_group !== EDGE) return { covered: 'none', filters: [] };
      if (isBypassed(spec)) return { covered: 'bypass', filters: [] };
      const path = { path: spec.prefix, type: pathType(spec) };
      return ofParts([{ host: mappingDomain(spec), path, filters: [], isSure: false }]);
    },
    ofParts,
  };
}

export function pathType({ prefix_exact, prefix_regex }: MappingSpec): RoutePath['type'] {
  return prefix_regex ? 'regex' : prefix_exact ? 'exact' : 'prefix';
}

/** A route's own Filters come beside those of rules. */
function joined(own: readonly string[], isSure: boolean, { covered, filters }: Coverage): Coverage {
  const some = own.length > 0 && covered === 'none' ? 'part' : covered;
  return { covered: isSure ? 'all' : some, filters: [...own, ...filters] };
}

/** No rule behind one that is for all is reached. */
function decided(rules: readonly Reached[], there: ReadonlySet<string>): Coverage {
  const whole = rules.findIndex(({ isWhole }) => isWhole);
  const reached = whole === -1 ? rules : rules.slice(0, whole + 1);
  const filters = reached.flatMap(each => each.filters);
  if (filters.length === 0) return { covered: 'none', filters };
  const isClosed = reached.every(each => each.filters.some(name => !there.has(name)));
  if (whole !== -1 && isClosed) return { covered: 'closed', filters: [] };
  const isSure = whole !== -1 && reached.every(each => each.isSure);
  return { covered: isSure ? 'all' : 'part', filters };
}

/** Returns globs for all paths of a route. An expression may match less. */
export function globsOf({ path: written, type }: RoutePath): readonly Glob[] {
  if (type === 'regex') return [startingWith(regexStart(written))];
  const path = canonicalPath(written);
  if (type === 'exact') return [exactly(path)];
  if (type === 'prefix') return [startingWith(path)];
  const base = path.replace(/\/$/, '');
  return [...(base === '' ? [] : [exactly(base)]), startingWith(`${base}/`)];
}

function exactly(path: string): Glob {
  return { prefix: path, inner: [] };
}

function startingWith(prefix: string): Glob {
  return { prefix, inner: [], suffix: '' };
}

/** An alternative may begin otherwise, and the last character may have a quantifier. */
function regexStart(regex: string): string {
  const start = regex.includes('|') ? '' : (/^[\w/-]*(?=[\w/-])/.exec(regex)?.[0] ?? '');
  return start.startsWith('/') ? start : '/';
}
