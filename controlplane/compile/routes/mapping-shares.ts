import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { type KeyedMapping, keyedMappings } from '../mapping-keys.ts';
import type { Memo } from '../memo.ts';
import { EDGE, ofNodeGroup } from '../node-groups.ts';
import { EVERY_MAPPING, type HostChoice, hasMapping } from '../tls/host-choice.ts';
import { hostCoverOf } from '../tls/host-cover.ts';
import { type SplitMappings, splitRedirects } from './redirects.ts';

/** The Mappings of a node group, with their shadows and those that are closed. */
export type AllMappings = {
  readonly mappings: readonly KeyedMapping[];
  readonly shadows: readonly KeyedMapping[];
  readonly closed: ResourceSet['closed'];
};

/** Those of them that the names of some Hosts have. */
export type MappingShare = SplitMappings &
  Pick<AllMappings, 'shadows' | 'closed'> & { readonly choice: HostChoice };

/** Returns what each choice has. A Mapping may be in several shares, or in none. */
export function mappingShares(
  { closed, mappings, shadows }: AllMappings,
  choices: Iterable<HostChoice>,
): readonly MappingShare[] {
  return [...choices].map(choice => {
    if (choice === EVERY_MAPPING) return { choice, ...splitRedirects(mappings), shadows, closed };
    const isThere = ({ mapping }: KeyedMapping) => hasMapping(choice, mapping);
    return {
      choice,
      ...splitRedirects(mappings.filter(isThere)),
      shadows: shadows.filter(isThere),
      closed: closed.filter(
        ({ labels = {}, match }) => match === undefined || choice.has(match, labels),
      ),
    };
  });
}

/** Returns the Mappings that some share asks a cluster for, in their order. */
export function askingClusters(
  { mappings, shadows }: AllMappings,
  shares: readonly MappingShare[],
): readonly KeyedMapping[] {
  const isAll = shares.some(share => share.forwarded === mappings && share.shadows === shadows);
  if (isAll) return shadows.length === 0 ? mappings : [...mappings, ...shadows];
  const asking = new Set(shares.flatMap(share => [...share.forwarded, ...share.shadows]));
  return [...mappings, ...shadows].filter(each => asking.has(each));
}

/** Returns Mappings in groups that match the same requests, and that the same Hosts have. */
export function sharingMappings(
  resources: ResourceSet,
  memo: Memo,
): readonly (readonly Resource<'Mapping'>[])[] {
  const { choices } = hostCoverOf(ofNodeGroup(resources, EDGE));
  const choicesOf = (mapping: Resource<'Mapping'>) =>
    [...choices.values()].filter(choice => hasMapping(choice, mapping)).map(({ key }) => key);
  const groups = Map.groupBy(keyedMappings(resources.mappings, memo), ({ keys, mapping }) => {
    const { node_group } = mapping.spec;
    const having = node_group === EDGE ? choicesOf(mapping) : [];
    return JSON.stringify([node_group, keys.match, having]);
  });
  return [...groups.values()].map(group => group.map(({ mapping }) => mapping));
}
