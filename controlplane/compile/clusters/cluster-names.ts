import type { JsonObject } from '#protos/json.ts';
import { askedService } from '#resources/kinds/mapping/mapping-tls.ts';
import type { Resource } from '#resources/resource.ts';
import type { KeyedMapping } from '../mapping-keys.ts';
import type { Memo } from '../memo.ts';
import { contentHash } from './content-hash.ts';
import { mappingCluster, type UpstreamTls } from './mapping-cluster.ts';
import { RESERVED_CLUSTERS } from './reserved-clusters.ts';
import type { ServiceTls } from './upstream-tls.ts';

/** A cluster with its name in Envoy, and the ids of its resources. */
export type NamedCluster = {
  readonly name: string;
  readonly json: JsonObject;
  readonly origins: readonly string[];
};

type Mapping = Resource<'Mapping'>;
type ByName = ReadonlyMap<string, NamedCluster>;

/** What Mappings with equal settings share: the name of their service, and the list of them. */
type Upstream = {
  readonly service: string;
  readonly users: [Mapping, ...Mapping[]];
  readonly tls: ServiceTls | undefined;
};

/**
 * Returns the cluster of each Mapping, by the Mapping's id. A Mapping whose service is the name of
 * a ProxyConfig's cluster uses that one. Otherwise the cluster has the name of the service, and
 * Mappings with equal settings share it. Where settings differ under one name, each of these
 * clusters gets a suffix from its settings. So no name changes its meaning when a Mapping comes or
 * goes.
 */
export function mappingClusters(
  mappings: readonly KeyedMapping[],
  declared: ByName,
  tls: UpstreamTls,
  memo: Memo,
): ByName {
  const clusters = new Map<string, NamedCluster>();
  const upstreams = new Map<string, Upstream>();
  for (const keyed of mappings) {
    const cluster = declaredCluster(keyed, declared);
    if (cluster === undefined) addUser(upstreams, keyed, tls.contexts.get(keyed.mapping.id));
    else clusters.set(keyed.mapping.id, cluster);
  }
  const taken = takenNames(upstreams.values(), declared);
  for (const [key, upstream] of upstreams) {
    const cluster = upstreamCluster(key, upstream, taken, tls, memo);
    for (const { id } of upstream.users) clusters.set(id, cluster);
  }
  return clusters;
}

/**
 * Returns the ProxyConfig's cluster that a Mapping uses, if any. The plain name of a service means
 * only a cluster that a ProxyConfig of the Mapping's namespace declares.
 */
export function declaredCluster(
  { mapping, keys }: KeyedMapping,
  declared: ByName,
): NamedCluster | undefined {
  if (askedService(mapping.spec).scheme !== 'http') return undefined;
  const found = declared.get(keys.service);
  if (found !== undefined) return found;
  const own = declared.get(plainName(keys.service, mapping.namespace));
  return own?.origins.some(id => id.startsWith(`ProxyConfig/${mapping.namespace}/`))
    ? own
    : undefined;
}

/** Returns `b` or `b:8080` for `b.foo` or `b.foo:8080` in namespace `foo`. */
function plainName(service: string, namespace: string): string {
  const [host = '', ...port] = service.split(':');
  const plain = host.endsWith(`.${namespace}`) ? host.slice(0, -namespace.length - 1) : host;
  return [plain, ...port].join(':');
}

function addUser(
  upstreams: Map<string, Upstream>,
  { mapping, keys: { cluster, service } }: KeyedMapping,
  tls: ServiceTls | undefined,
): void {
  const key = tls === undefined ? cluster : `${cluster} ${tls.context}`;
  const upstream = upstreams.get(key);
  if (upstream === undefined) upstreams.set(key, { service, users: [mapping], tls });
  else upstream.users.push(mapping);
}

/** Returns names that no Mapping's cluster can have alone. */
function takenNames(upstreams: Iterable<Upstream>, declared: ByName): ReadonlySet<string> {
  const taken = new Set([...RESERVED_CLUSTERS, ...[...declared.values()].map(({ name }) => name)]);
  const seen = new Set<string>();
  for (const { service } of upstreams) {
    if (seen.has(service)) taken.add(service);
    seen.add(service);
  }
  return taken;
}

function upstreamCluster(
  key: string,
  { service, users, tls }: Upstream,
  taken: ReadonlySet<string>,
  { caFile, hop }: UpstreamTls,
  memo: Memo,
): NamedCluster {
  const [{ spec }] = users;
  const name = taken.has(service) ? `${service}~${contentHash(key)}` : service;
  const inputs = [name, caFile, hop.isDefault, hop.trustDomain, tls];
  const json = memo.of(spec, 'cluster', inputs, () =>
    mappingCluster(name, spec, { caFile, hop }, tls),
  );
  return {
    name,
    json,
    origins: [...users.map(({ id }) => id), ...(tls === undefined ? [] : [tls.context])],
  };
}
