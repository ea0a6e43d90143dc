import type { JsonObject } from '#protos/json.ts';
import { askedService } from '#resources/kinds/mapping/mapping-tls.ts';
import type { Resource } from '#resources/resource.ts';
import { longHash } from '#resources/words/gateway-group.ts';
import type { KeyedMapping } from '../mapping-keys.ts';
import type { Memo } from '../memo.ts';
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
 * goes. Its statistics keep their name when its settings change.
 */
export function mappingClusters(
  mappings: readonly KeyedMapping[],
  declared: ByName,
  tls: UpstreamTls,
  memo: Memo,
): ByName {
  if (declared.size > 0) return newMappingClusters(mappings, declared, tls, memo);
  // Most edits change no cluster.
  const last = memo.of(memo, 'asking Mappings', [], () => ({ mappings }));
  if (!askTheSame(last.mappings, mappings)) last.mappings = mappings;
  const { contexts, hop } = tls;
  const inputs = [tls.caFile, hop.isDefault, hop.trustDomain, ...[...contexts].flat()];
  return memo.of(last.mappings, 'mapping clusters', inputs, () =>
    newMappingClusters(mappings, declared, tls, memo),
  );
}

/** Returns whether Mappings have the same ids, and ask for the same clusters. */
function askTheSame(before: readonly KeyedMapping[], now: readonly KeyedMapping[]): boolean {
  const isSame = (a: KeyedMapping, b: KeyedMapping | undefined) =>
    a === b ||
    (a.mapping.id === b?.mapping.id &&
      a.keys.cluster === b.keys.cluster &&
      a.keys.service === b.keys.service);
  return before.length === now.length && before.every((each, index) => isSame(each, now[index]));
}

function newMappingClusters(
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
  const counted = new Set(reservedNames(declared));
  for (const [key, upstream] of upstreams) {
    const names = {
      name: clusterName(key, upstream, taken),
      statName: statName(upstream, counted),
    };
    const cluster = upstreamCluster(names, upstream, tls, memo);
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
  if (declared.size === 0 || askedService(mapping.spec).scheme !== 'http') return undefined;
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
  const taken = new Set(reservedNames(declared));
  const seen = new Set<string>();
  for (const { service } of upstreams) {
    if (seen.has(service)) taken.add(service);
    seen.add(service);
  }
  return taken;
}

function reservedNames(declared: ByName): readonly string[] {
  return [...RESERVED_CLUSTERS, ...[...declared.values()].map(({ name }) => name)];
}

/**
 * Users of many namespaces choose the settings of Mappings. With a shorter hash one of them could
 * search for settings that have the name, and so the connections, of another one's cluster.
 */
function clusterName(key: string, { service }: Upstream, taken: ReadonlySet<string>): string {
  return taken.has(service) ? `${service}~${longHash(key)}` : service;
}

/**
 * Returns the cluster's name in statistics, which must not change with its settings. The service's
 * name is that of its first cluster. Each other one is told apart by its first Mapping. `counted`
 * has the names that are in use.
 */
function statName({ service, users }: Upstream, counted: Set<string>): string {
  const name = counted.has(service) ? `${service}~${users[0].namespace}/${users[0].name}` : service;
  counted.add(name);
  return name;
}

function upstreamCluster(
  { name, statName }: { readonly name: string; readonly statName: string },
  { users, tls }: Pick<Upstream, 'users' | 'tls'>,
  { caFile, hop }: UpstreamTls,
  memo: Memo,
): NamedCluster {
  const [{ spec }] = users;
  const inputs = [name, statName, caFile, hop.isDefault, hop.trustDomain, tls];
  const origins = [...users.map(({ id }) => id), ...(tls === undefined ? [] : [tls.context])];
  const make = () => ({
    ...mappingCluster(name, spec, { caFile, hop }, tls),
    ...(statName === name ? {} : { alt_stat_name: statName }),
  });
  return memo.of(spec, 'named cluster', [...inputs, ...origins], () => ({
    name,
    json: memo.of(spec, 'cluster', inputs, make),
    origins,
  }));
}
