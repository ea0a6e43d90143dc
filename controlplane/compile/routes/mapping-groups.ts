import type { NamedCluster } from '../clusters/cluster-names.ts';
import type { KeyedMapping } from '../mapping-keys.ts';
import type { MappingGroup, MappingTarget } from './mapping-route.ts';

/**
 * Returns Mappings with their clusters (by id), in groups that match the same requests, by match.
 * The Mappings come ordered by id.
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
  return groups;
}
