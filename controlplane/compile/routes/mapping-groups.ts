import type { NamedCluster } from '../clusters/cluster-names.ts';
import type { KeyedMapping } from '../mapping-keys.ts';
import type { MappingGroup, MappingTarget } from './mapping-route.ts';

/**
 * Returns Mappings with their clusters (by id), in groups that match the same requests, by match.
 * The Mappings come ordered by id. In each group those with `bypass_auth` are the last, and before
 * them those without labels: the first gives the route what cannot differ. It must not take Filters
 * from the others, nor all limits.
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
    if (group.length > 1 && openness(group[0]) > 0) group.sort((a, b) => openness(a) - openness(b));
  return groups;
}

function openness({ mapping: { spec } }: MappingTarget): number {
  const unlabelled = Object.values(spec.labels).every(groups => groups.length === 0);
  return 2 * Number(spec.bypass_auth) + Number(unlabelled);
}
