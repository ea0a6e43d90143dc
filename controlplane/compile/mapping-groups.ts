import type { Resource } from '#resources/resource.ts';
import type { NamedCluster } from './cluster-names.ts';
import { matchKey } from './mapping-match.ts';
import type { MappingGroup, MappingTarget } from './mapping-route.ts';
import type { Memo } from './memo.ts';

/** Mappings, which come ordered by id, with their clusters (by id), in groups that match the same requests; by match. */
export function mappingGroups(
  mappings: readonly Resource<'Mapping'>[],
  clusters: ReadonlyMap<string, NamedCluster>,
  memo: Memo,
): ReadonlyMap<string, MappingGroup> {
  const groups = new Map<string, [MappingTarget, ...MappingTarget[]]>();
  for (const mapping of mappings) {
    const cluster = clusters.get(mapping.id);
    if (cluster === undefined) throw new Error(`${mapping.id} has no cluster`);
    const key = memo.get(`match ${mapping.hash}`, () => matchKey(mapping.spec));
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [{ mapping, cluster }]);
    else group.push({ mapping, cluster });
  }
  return groups;
}
