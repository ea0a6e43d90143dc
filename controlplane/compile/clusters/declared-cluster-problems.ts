import type { Problem } from '#resources/problem.ts';
import type { KeyedMapping } from '../mapping-keys.ts';
import { problemOf } from '../problem-of.ts';
import { declaredCluster, type NamedCluster } from './cluster-names.ts';
import { type ClusterTraffic, trafficFields } from './cluster-traffic.ts';

/**
 * Returns Problems for settings of Mappings that have no effect on a ProxyConfig's cluster.
 * `defaults` are not the Mappings' own.
 */
export function declaredClusterProblems(
  mappings: readonly KeyedMapping[],
  declared: ReadonlyMap<string, NamedCluster>,
  defaults: ClusterTraffic,
): readonly Problem[] {
  if (declared.size === 0) return [];
  return mappings.flatMap(keyed => {
    const cluster = declaredCluster(keyed, declared);
    if (cluster === undefined) return [];
    const [origin] = cluster.origins;
    const { spec } = keyed.mapping;
    const own = trafficFields(spec).filter(field => spec[field] !== defaults[field]);
    return own.map(field =>
      problemOf(
        keyed.mapping,
        'warning',
        `spec.${field}`,
        `it has no effect on the instances of "${cluster.name}": that cluster is declared in ${origin}`,
      ),
    );
  });
}
