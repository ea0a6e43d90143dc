import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { addedHeaders } from '../added-headers.ts';
import type { Memo } from '../memo.ts';
import { closedRoute } from './closed-route.ts';
import { matchKey } from './mapping-match.ts';
import { type EdgeRoutes, type MappingGroup, mappingRoute } from './mapping-route.ts';
import type { RouteEntry } from './route-entry.ts';

/**
 * The routes of all Mappings of a node group. A refused Mapping is closed, unless others match the very same requests:
 * those then take its share.
 */
export function mappingEntries(
  groups: ReadonlyMap<string, MappingGroup>,
  closed: ResourceSet['closed'],
  memo: Memo,
  edge?: EdgeRoutes,
): readonly RouteEntry[] {
  const served = [...groups.values()].map(group => rememberedRoute(group, memo, edge));
  const refused = closed.flatMap(resource => {
    const { match } = resource;
    if (match === undefined || groups.has(matchKey(match))) return [];
    return [closedRoute({ ...resource, match })];
  });
  return [...served, ...refused];
}

/** The earlier route, if the Mappings, their ids, the names of their clusters, the common labels and what the gateway does to their headers are the same. */
function rememberedRoute(group: MappingGroup, memo: Memo, edge: EdgeRoutes | undefined): RouteEntry {
  const [{ mapping, cluster }, ...others] = group;
  const taken = mapping.spec.bypass_auth ? edge?.takenOnBypass(mapping.spec.host).join() : undefined;
  const inputs: unknown[] = [mapping.id, cluster.name, edge?.labelling.key, taken, addedTo(mapping, edge)];
  for (const { mapping, cluster } of others)
    inputs.push(mapping.spec, mapping.id, cluster.name, addedTo(mapping, edge));
  return memo.of(mapping.spec, 'route', inputs, () => mappingRoute(group, edge));
}

function addedTo({ spec }: Resource<'Mapping'>, edge: EdgeRoutes | undefined): string {
  return Object.keys(addedHeaders(spec, edge?.settersOf)).join();
}
