import type { ResourceSet } from '#resources/resource-set.ts';
import { closedRoute } from './closed-route.ts';
import { matchKey } from './mapping-match.ts';
import { type MappingGroup, mappingRoute } from './mapping-route.ts';
import type { Memo } from './memo.ts';
import type { RouteEntry } from './route-entry.ts';

/**
 * The routes of all Mappings of a node group. A refused Mapping is closed, unless others match the very same requests:
 * those then take its share.
 */
export function mappingEntries(
  groups: ReadonlyMap<string, MappingGroup>,
  closed: ResourceSet['closed'],
  memo: Memo,
): readonly RouteEntry[] {
  const served = [...groups.values()].map(group => memo.get(groupKey(group), () => mappingRoute(group)));
  const refused = closed.flatMap(resource => {
    const { match } = resource;
    if (match === undefined || groups.has(matchKey(match))) return [];
    return [closedRoute({ ...resource, match })];
  });
  return [...served, ...refused];
}

/** All that the route of these Mappings is made of. */
function groupKey(group: MappingGroup): string {
  const parts = group.map(({ mapping, cluster }) => `${mapping.id} ${mapping.hash} ${cluster.name}`);
  return `route ${parts.join('\n')}`;
}
