import type { JsonObject } from '#protos/json.ts';
import type { MappingSpec } from '#resources/mapping.ts';
import type { Resource } from '#resources/resource.ts';
import { contentHash } from './content-hash.ts';
import { BOOTSTRAP_CLUSTERS } from './discovery-cluster.ts';
import { clusterKey, mappingCluster, serviceName } from './mapping-cluster.ts';
import type { Memo } from './memo.ts';

/** A cluster with its name in Envoy, and the ids of the resources that it comes from. */
export type NamedCluster = {
  readonly name: string;
  readonly json: JsonObject;
  readonly origins: readonly string[];
};

type Mapping = Resource<'Mapping'>;
type ByName = ReadonlyMap<string, NamedCluster>;

/**
 * The cluster of each Mapping, by the Mapping's id. A Mapping whose service is the name of a ProxyConfig's cluster uses
 * that one. Otherwise it is named as the service, and Mappings with equal settings share it; where settings differ
 * under one name, each of these clusters gets a suffix from its settings, so that no name changes its meaning
 * when a Mapping comes or goes.
 */
export function mappingClusters(
  mappings: readonly Mapping[],
  declared: ByName,
  caFile: string,
  memo: Memo,
): ByName {
  const clusters = new Map<string, NamedCluster>();
  const own: Mapping[] = [];
  for (const mapping of mappings) {
    const cluster = declaredCluster(mapping.spec, declared);
    if (cluster === undefined) own.push(mapping);
    else clusters.set(mapping.id, cluster);
  }
  const taken = takenNames(own, declared);
  for (const [key, users] of Map.groupBy(own, ({ spec }) => clusterKey(spec))) {
    const cluster = ownCluster(key, users, taken, caFile, memo);
    for (const { id } of users) clusters.set(id, cluster);
  }
  return clusters;
}

function declaredCluster(spec: MappingSpec, declared: ByName): NamedCluster | undefined {
  return spec.service.scheme === 'http' ? declared.get(serviceName(spec)) : undefined;
}

/** Names that no Mapping's cluster can have alone. */
function takenNames(mappings: readonly Mapping[], declared: ByName): ReadonlySet<string> {
  const keys = new Map<string, string>();
  const shared = mappings.flatMap(({ spec }) => {
    const name = serviceName(spec);
    const key = clusterKey(spec);
    const other = keys.get(name) ?? key;
    keys.set(name, other);
    return other === key ? [] : [name];
  });
  return new Set([...BOOTSTRAP_CLUSTERS, ...[...declared.values()].map(({ name }) => name), ...shared]);
}

function ownCluster(
  key: string,
  users: readonly Mapping[],
  taken: ReadonlySet<string>,
  caFile: string,
  memo: Memo,
): NamedCluster {
  const [first] = users;
  if (first === undefined) throw new Error('a cluster without users');
  const plain = serviceName(first.spec);
  const name = taken.has(plain) ? `${plain}~${contentHash(key)}` : plain;
  const json = memo.get(`cluster ${name} ${caFile} ${key}`, () => mappingCluster(name, first.spec, caFile));
  return { name, json, origins: users.map(({ id }) => id) };
}
