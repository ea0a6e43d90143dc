import type { Glob } from '#resources/match/glob.ts';
import { globCovers } from '#resources/match/glob-relation.ts';
import type { Resource } from '#resources/resource.ts';
import { isWhole, MOST_APART, type RulesOn } from './asked-paths.ts';
import { remembersDecisions } from './decision-revision.ts';
import { filterKey } from './filter-key.ts';

/** The rule by which proxies may repeat decisions, and on which paths it is not the first. */
export type RememberedRule = {
  /** The name that the Filter service gives it too. */
  readonly name: string;
  /** Globs for paths that are read in one way. */
  readonly apart: readonly Glob[];
};

/** Returns the rule for some paths. */
export type FindRemembered = (paths: Glob) => RememberedRule | undefined;

/** What the virtual host of some domains has. */
export type RememberedOn = (domains: readonly string[]) => FindRemembered;

/**
 * Returns where a proxy may repeat decisions about sessions. A rule must be for every path and host
 * there, and have one login Filter alone. On other hosts than protected origins nobody has a
 * session, and the gateway's own paths have no routes.
 */
export function rememberedOn(
  rulesOn: RulesOn,
  filters: readonly Resource<'Filter'>[],
  revision: string,
  isOrigin: (domain: string) => boolean,
): RememberedOn | undefined {
  const remembering = new Set(
    filters.filter(remembersDecisions).map(({ name, namespace }) => filterKey(namespace, name)),
  );
  if (remembering.size === 0) return undefined;
  return domains => {
    if (!domains.every(isOrigin)) return () => undefined;
    const find = rulesOn(domains);
    return paths => {
      const rules = find(paths);
      const at = rules.findIndex(rule => isWhole(rule, paths, domains));
      const rule = rules[at];
      if (rule?.decides === undefined || !remembering.has(rule.decides)) return undefined;
      const apart = rules.slice(0, at).map(({ path }) => path);
      if (apart.length > MOST_APART || apart.some(path => globCovers(path, paths)))
        return undefined;
      const { index, policy } = rule;
      return { name: `${revision} ${filterKey(policy.namespace, policy.name)}[${index}]`, apart };
    };
  };
}
