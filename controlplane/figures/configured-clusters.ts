import type { Compiled, CompiledResource } from '#controlplane/compile/compiled.ts';
import { statName } from '#controlplane/compile/stat-name.ts';
import { isJsonObject, type JsonObject, objectsIn } from '#protos/json.ts';
import { CLUSTER, ROUTE_CONFIGURATION } from '#protos/type-url.ts';
import { once } from '#xds/remembered.ts';

/** The clusters of a node group, by their name in statistics. */
export type ConfiguredClusters = {
  /** Returns the ids behind a cluster, or undefined when there is no such cluster. */
  origins(cluster: string): readonly string[] | undefined;
  /** Returns the name in statistics of the cluster that has this name in requests. */
  statName(name: string): string | undefined;
  /** Returns the clusters of a Mapping or ProxyConfig. */
  behind(id: string): readonly string[];
  /** Returns whether the group has a route of this Mapping. */
  serves(id: string): boolean;
};

const NONE: ConfiguredClusters = {
  origins: () => undefined,
  statName: () => undefined,
  behind: () => [],
  serves: () => false,
};

/** Remembers what each node group was compiled to. Indexes it when somebody asks. */
export class ConfiguredGroups {
  readonly #compiled = new Map<string, Compiled>();
  readonly #indexed = new Map<string, ConfiguredClusters>();

  compiled(group: string, compiled: Compiled): void {
    const before = this.#compiled.get(group);
    this.#compiled.set(group, compiled);
    if (before === undefined || !isAlike(before, compiled)) this.#indexed.delete(group);
  }

  of(group: string): ConfiguredClusters {
    const known = this.#indexed.get(group);
    if (known !== undefined) return known;
    const compiled = this.#compiled.get(group);
    if (compiled === undefined) return NONE;
    const made = indexed(compiled);
    this.#indexed.set(group, made);
    return made;
  }
}

/** Values by key. Most keys of thousands have one value, so it needs no set. */
type Index = Map<string, string | Set<string>>;
const NO_VALUES = new Set<string>();

/** Each part is made when somebody asks for it. A logged request asks for the served ids alone. */
function indexed({ resources }: Compiled): ConfiguredClusters {
  const clusters = resources.get(CLUSTER) ?? [];
  const tables = resources.get(ROUTE_CONFIGURATION) ?? [];
  const served = once(() => new Set(tables.flatMap(({ origins }) => origins)));
  const statNames = once(() => new Map(clusters.map(each => [each.name, countedName(each)])));
  const users = once(() => usersOf(clusters, tables, statNames()));
  return {
    origins: name => listOf(users().origins.get(name)),
    statName: name => statNames().get(name),
    behind: id => listOf(users().behind.get(id)) ?? [],
    serves: id => served().has(id),
  };
}

function countedName({ json, name }: CompiledResource): string {
  const { alt_stat_name } = json;
  return statName(typeof alt_stat_name === 'string' ? alt_stat_name : name);
}

/** Returns the ids behind each cluster, and the clusters behind each id. */
function usersOf(
  clusters: readonly CompiledResource[],
  tables: readonly CompiledResource[],
  statNames: ReadonlyMap<string, string>,
): { readonly origins: Index; readonly behind: Index } {
  const origins: Index = new Map();
  const behind: Index = new Map();
  for (const { name, origins: ids } of clusters) {
    const counted = statNames.get(name) ?? name;
    if (!origins.has(counted)) origins.set(counted, NO_VALUES);
    for (const id of ids) {
      addTo(behind, id, counted);
      addTo(origins, counted, id);
    }
  }
  for (const { id, clusters } of tables.flatMap(({ json }) => allRoutes(json).flatMap(named))) {
    const names = clusters.flatMap(cluster => statNames.get(cluster) ?? []);
    for (const name of names) addTo(behind, id, name);
    // The first Mapping names a route. Each of several has its own cluster.
    const [only] = names;
    if (names.length === 1 && only !== undefined) addTo(origins, only, id);
  }
  return { origins, behind };
}

/** Whether both have the same clusters behind the same routes, so one index is right for both. */
function isAlike({ resources: before }: Compiled, { resources: now }: Compiled): boolean {
  const [clusters, tables] = [CLUSTER, ROUTE_CONFIGURATION].map(type => ({
    before: before.get(type) ?? [],
    now: now.get(type) ?? [],
  }));
  return areAlike(clusters, isSameCluster) && areAlike(tables, isSameTable);
}

function isSameCluster(a: CompiledResource, b: CompiledResource): boolean {
  const isNamedAlike = a.name === b.name && a.json.alt_stat_name === b.json.alt_stat_name;
  return isNamedAlike && areAlike({ before: a.origins, now: b.origins });
}

function isSameTable(a: CompiledResource, b: CompiledResource): boolean {
  const routes = { before: allRoutes(a.json), now: allRoutes(b.json) };
  const isSame = (a: JsonObject, b: JsonObject) =>
    JSON.stringify(named(a)) === JSON.stringify(named(b));
  return areAlike({ before: a.origins, now: b.origins }) && areAlike(routes, isSame);
}

/** The very same items cost next to nothing. */
function areAlike<T>(
  lists: { readonly before: readonly T[]; readonly now: readonly T[] } | undefined,
  isSame: (a: T, b: T) => boolean = () => false,
): boolean {
  const { before = [], now = [] } = lists ?? {};
  if (before.length !== now.length) return false;
  return before.every((a, index) => a === now[index] || isSame(a, now[index] as T));
}

function allRoutes({ virtual_hosts }: JsonObject): readonly JsonObject[] {
  return objectsIn(virtual_hosts).flatMap(({ routes }) => objectsIn(routes));
}

/** Returns the route where it is named after a Mapping or ProxyConfig, with its clusters. */
function named({ name, route }: JsonObject) {
  if (typeof name !== 'string' || !isJsonObject(route)) return [];
  const { cluster, weighted_clusters: split } = route;
  const parts = isJsonObject(split) ? objectsIn(split.clusters).map(part => part.name) : [];
  return [{ id: name, clusters: [cluster, ...parts].filter(each => typeof each === 'string') }];
}

function addTo(index: Index, key: string, value: string): void {
  const known = index.get(key);
  if (known === undefined || known === NO_VALUES) index.set(key, value);
  else if (typeof known !== 'string') known.add(value);
  else if (known !== value) index.set(key, new Set([known, value]));
}

function listOf(values: string | ReadonlySet<string> | undefined): readonly string[] | undefined {
  return typeof values === 'string' ? [values] : values && [...values];
}
