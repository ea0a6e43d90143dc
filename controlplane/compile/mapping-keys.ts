import type { MappingSpec } from '#resources/kinds/mapping/mapping-spec.ts';
import type { Resource } from '#resources/resource.ts';
import { trafficKey } from './clusters/cluster-traffic.ts';
import { clusterKey, serviceName } from './clusters/mapping-cluster.ts';
import { keptMap } from './kept-lists.ts';
import type { Memo } from './memo.ts';
import { matchKey } from './routes/mapping-match.ts';

/** What decides which Mappings share a cluster, and which share a route. */
export type MappingKeys = {
  readonly service: string;
  readonly cluster: string;
  readonly match: string;
};

export type KeyedMapping = { readonly mapping: Resource<'Mapping'>; readonly keys: MappingKeys };

/** Returns the Mappings with their keys. Each key is made once in the Mapping's life. */
export function keyedMappings(
  mappings: readonly Resource<'Mapping'>[],
  memo: Memo,
): readonly KeyedMapping[] {
  const keyed = memo.of(memo, 'keyed Mappings', [], () =>
    keptMap((mapping: Resource<'Mapping'>) => ({
      mapping,
      keys: memo.of(mapping.spec, 'keys', [], () => mappingKeys(mapping.spec)),
    })),
  );
  return keyed(mappings);
}

function mappingKeys(spec: MappingSpec): MappingKeys {
  return {
    service: serviceName(spec),
    cluster: `${clusterKey(spec)}${trafficKey(spec)}`,
    match: matchKey(spec),
  };
}
