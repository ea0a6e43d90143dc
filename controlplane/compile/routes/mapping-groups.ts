import type { MappingSpec } from '#resources/kinds/mapping/mapping-spec.ts';
import type { NamedCluster } from '../clusters/cluster-names.ts';
import type { KeyedMapping } from '../mapping-keys.ts';
import type { MappingGroup, MappingTarget } from './mapping-route.ts';

type Bypass = Pick<MappingSpec, 'bypass_auth'>;

/**
 * Returns Mappings with their clusters (by id), in groups that match the same requests, by match.
 * The Mappings come ordered by id, and in each group by `byBypass`.
 */
export function mappingGroups(
  mappings: readonly KeyedMapping[],
  clusters: ReadonlyMap<string, NamedCluster>,
): ReadonlyMap<string, MappingGroup> {
  const groups = new Map<string, [MappingTarget, ...MappingTarget[]]>();
  for (const { mapping, keys } of mappings) {
    const cluster = clusters.get(mapping.id);
    if (cluster === undefined) throw new Error(`${mapping.id} has no cluster`);
    const group = groups.get(keys.match);
    if (group === undefined) groups.set(keys.match, [{ mapping, cluster }]);
    else group.push({ mapping, cluster });
  }
  for (const group of groups.values())
    if (group[0].mapping.spec.bypass_auth && group.length > 1)
      group.sort((a, b) => byBypass(a.mapping.spec, b.mapping.spec));
  return groups;
}

/**
 * Orders Mappings that match the same requests: those with `bypass_auth` are the last. The first
 * gives the route what cannot differ, and must not take Filters from the others.
 */
export function byBypass(a: Bypass, b: Bypass): number {
  return Number(a.bypass_auth) - Number(b.bypass_auth);
}
