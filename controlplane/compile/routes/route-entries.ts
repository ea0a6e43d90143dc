import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { addedHeaders, addsRequestHeaders } from '../added-headers.ts';
import { mappingDomain } from '../mapping-domain.ts';
import type { Memo } from '../memo.ts';
import { closedRoute, isClosedMapping } from './closed-route.ts';
import { withLetterCase } from './letter-case.ts';
import { matchKey } from './mapping-match.ts';
import { type EdgeRoutes, type MappingGroup, mappingRoute } from './mapping-route.ts';
import { redirectRoute } from './redirect-route.ts';
import type { SplitMappings } from './redirects.ts';
import type { RouteEntry } from './route-entry.ts';
import type { Shadow } from './shadows.ts';

/** Mappings in groups that match the same requests, with their shadows and redirects, by match. */
export type MappingGroups = Pick<SplitMappings, 'redirects'> & {
  readonly groups: ReadonlyMap<string, MappingGroup>;
  readonly mirrors: ReadonlyMap<string, MappingGroup>;
};

/**
 * Returns the routes of all Mappings of a node group. A rejected Mapping is closed, unless others
 * match the very same requests. Those then take its share.
 */
export function mappingEntries(
  { groups, mirrors, redirects }: MappingGroups,
  closed: ResourceSet['closed'],
  memo: Memo,
  edge?: EdgeRoutes,
): readonly RouteEntry[] {
  const served = [...groups].flatMap(([match, group]) =>
    withLetterCase(
      rememberedRoute(group, mirrors.get(match) ?? [], memo, edge),
      group[0].mapping,
      edge,
      memo,
    ),
  );
  const sent = [...redirects.values()].flatMap(mapping => {
    const entry = memo.of(mapping.spec, 'redirect', [mapping.id], () =>
      redirectRoute(mapping, edge !== undefined),
    );
    return withLetterCase(entry, mapping, edge, memo);
  });
  const rejected = closed.filter(isClosedMapping).flatMap(mapping => {
    const key = matchKey(mapping.match);
    return groups.has(key) || redirects.has(key) ? [] : [closedRoute(mapping)];
  });
  return [...served, ...sent, ...rejected];
}

/**
 * Returns the earlier route, if the Mappings, their ids, the names of their clusters, the common
 * labels and what the gateway does to their headers are the same.
 */
function rememberedRoute(
  group: MappingGroup,
  shadows: readonly Shadow[],
  memo: Memo,
  edge: EdgeRoutes | undefined,
): RouteEntry {
  const [{ mapping, cluster }, ...others] = group;
  const taken = mapping.spec.bypass_auth
    ? edge?.takenOnBypass(mappingDomain(mapping.spec)).join()
    : undefined;
  const inputs: unknown[] = [
    mapping.id,
    cluster.name,
    edge?.labellings.key,
    taken,
    addedTo(mapping, edge),
  ];
  for (const { mapping, cluster } of others)
    inputs.push(mapping.spec, mapping.id, cluster.name, addedTo(mapping, edge));
  for (const { mapping, cluster } of shadows)
    inputs.push('shadow', mapping.spec, mapping.id, cluster.name);
  return memo.of(mapping.spec, 'route', inputs, () => mappingRoute(group, shadows, edge));
}

function addedTo({ spec }: Resource<'Mapping'>, edge: EdgeRoutes | undefined): string {
  if (!addsRequestHeaders(spec)) return '';
  return Object.keys(addedHeaders(spec, edge?.settersOf)).join();
}
