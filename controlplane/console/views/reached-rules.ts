import { rulesOn } from '#controlplane/compile/ext-authz/asked-paths.ts';
import { filterKey } from '#controlplane/compile/ext-authz/filter-key.ts';
import type { OrderedRule } from '#controlplane/compile/ext-authz/rule-order.ts';
import { domainGlob } from '#controlplane/compile/mapping-domain.ts';
import type {
  FilterReference,
  TargetFilter,
} from '#resources/kinds/filter-policy/filter-policy.ts';
import type { Glob } from '#resources/match/glob.ts';
import { commonText, genericText, globCovers } from '#resources/match/glob-relation.ts';

/** A rule that may match some paths. */
export type Reached = {
  readonly rank: number;
  readonly filters: readonly string[];
  /** Whether it is for all of them. */
  readonly isWhole: boolean;
  /** Whether it lets no request pass that no Filter has let pass. */
  readonly isSure: boolean;
};

/** Whether one of the Filters decides about each request. */
export function areSure(
  filters: readonly (TargetFilter & Partial<Pick<FilterReference, 'onDeny'>>)[],
): boolean {
  return filters.some(
    ({ ifRequestHeader, onDeny }) => ifRequestHeader === undefined && onDeny !== 'continue',
  );
}

/** Finds the rules that may match in a domain (`*`, `*.example.com` or a host), in their order. */
export type RulesIn = (domain: string, paths: Glob) => readonly Reached[];

/**
 * Finds rules by host and by what their paths begin with. There may be very many hosts, which share
 * the rules whose hosts are globs.
 */
export function ruleIndex(rules: readonly OrderedRule[]): RulesIn {
  const byHost = Map.groupBy(rules, ({ host }) => host.suffix === undefined);
  const named = Map.groupBy(byHost.get(true) ?? [], ({ host }) => host.prefix);
  const globs = rulesOn(byHost.get(false) ?? []);
  const domains = new Map<string, readonly FindReached[]>();
  const shared = new Map<unknown, FindReached>();
  const findersOf = (domain: string): readonly FindReached[] => {
    const hosts = domainGlob(domain);
    if (hosts.suffix !== undefined) return [finder(rulesOn(inside(rules, hosts))(['*']), hosts)];
    const find = globs([domain]);
    const known = shared.get(find) ?? finder(find, hosts);
    shared.set(find, known);
    const own = named.get(hosts.prefix);
    return own === undefined ? [known] : [finder(rulesOn(own)(['*']), hosts), known];
  };
  return (domain, paths) => {
    const found = domains.get(domain) ?? findersOf(domain);
    domains.set(domain, found);
    return found.flatMap(find => find(paths)).sort((a, b) => a.rank - b.rank);
  };
}

/** Returns the rules that may match one of these hosts, without those that tell no more. */
function inside(rules: readonly OrderedRule[], hosts: Glob): readonly OrderedRule[] {
  return firstOfEach(
    rules.filter(({ host }) => commonText(host, hosts) !== undefined),
    ({ filters, host, path, policy }) =>
      JSON.stringify([globCovers(host, hosts), path, filters, policy.namespace]),
  );
}

type FindReached = (paths: Glob) => readonly Reached[];

/** Very many routes may have the same paths, and very many rules may say the same. */
function finder(find: (paths: Glob) => readonly OrderedRule[], hosts: Glob): FindReached {
  const known = new Map<string, readonly Reached[]>();
  return paths => {
    const key = genericText(paths);
    const found =
      known.get(key) ??
      firstOfEach(
        find(paths).map(rule => toReached(rule, hosts, paths)),
        ({ rank: _, ...told }) => JSON.stringify(told),
      );
    known.set(key, found);
    return found;
  };
}

function toReached(
  { filters, host, path, policy, rank }: OrderedRule,
  hosts: Glob,
  paths: Glob,
): Reached {
  return {
    rank,
    filters: filters.map(({ name, namespace = policy.namespace }) => filterKey(namespace, name)),
    isWhole: globCovers(host, hosts) && globCovers(path, paths),
    isSure: areSure(filters),
  };
}

function firstOfEach<T>(items: readonly T[], keyOf: (item: T) => string): readonly T[] {
  return [...Map.groupBy(items, keyOf).values()].flatMap(([first]) => first ?? []);
}
