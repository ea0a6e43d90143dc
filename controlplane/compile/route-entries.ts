import type { ResourceSet } from '#resources/resource-set.ts';
import { closedRoute } from './closed-route.ts';
import type { Labelling } from './labelling.ts';
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
  labelling?: Labelling,
): readonly RouteEntry[] {
  const served = [...groups.values()].map(group => rememberedRoute(group, memo, labelling));
  const refused = closed.flatMap(resource => {
    const { match } = resource;
    if (match === undefined || groups.has(matchKey(match))) return [];
    return [closedRoute({ ...resource, match })];
  });
  return [...served, ...refused];
}

/** The earlier route, if the Mappings, their ids and the names of their clusters and the common labels are the same. */
function rememberedRoute(group: MappingGroup, memo: Memo, labelling: Labelling | undefined): RouteEntry {
  const [{ mapping, cluster }, ...others] = group;
  const inputs: unknown[] = [mapping.id, cluster.name, labelling?.key];
  for (const { mapping, cluster } of others) inputs.push(mapping.spec, mapping.id, cluster.name);
  return memo.of(mapping.spec, 'route', inputs, () => mappingRoute(group, labelling));
}
