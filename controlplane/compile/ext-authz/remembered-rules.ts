import type { Glob } from '#resources/match/glob.ts';
import type { Resource } from '#resources/resource.ts';
import { isWhole, type RulesOn } from './asked-paths.ts';
import { remembersDecisions } from './decision-revision.ts';
import { filterKey } from './filter-key.ts';

/**
 * Returns the rule that decides about every one of these paths, if proxies may remember what it
 * decides, by the name that the Filter service gives it too.
 */
export type RememberedRule = (paths: Glob) => string | undefined;

/** What the virtual host of some domains has. */
export type RememberedOn = (domains: readonly string[]) => RememberedRule;

/**
 * Returns where a proxy may repeat decisions about sessions. The first rule that may match must be
 * for every path and host there, and have one login Filter alone. On other hosts than protected
 * origins nobody has a session, and the gateway's own paths have no routes.
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
      const [first] = find(paths);
      if (first?.decides === undefined || !remembering.has(first.decides)) return undefined;
      if (!isWhole(first, paths, domains)) return undefined;
      const { index, policy } = first;
      return `${revision} ${filterKey(policy.namespace, policy.name)}[${index}]`;
    };
  };
}
