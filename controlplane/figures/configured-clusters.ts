import type { Compiled, CompiledResource } from '#controlplane/compile/compiled.ts';
import { statName } from '#controlplane/compile/stat-name.ts';
import { isJsonObject, type Json, type JsonObject } from '#protos/json.ts';
import { CLUSTER, ROUTE_CONFIGURATION } from '#protos/type-url.ts';

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

function indexed({ resources }: Compiled): ConfiguredClusters {
  const statNames = new Map<string, string>();
  const origins = new Map<string, Set<string>>();
  const behind = new Map<string, Set<string>>();
  for (const { name, json, origins: ids } of resources.get(CLUSTER) ?? []) {
    const { alt_stat_name } = json;
    const counted = statName(typeof alt_stat_name === 'string' ? alt_stat_name : name);
    statNames.set(name, counted);
    for (const id of ids) addTo(behind, id, counted);
    origins.set(counted, new Set([...(origins.get(counted) ?? []), ...ids]));
  }
  const routes = (resources.get(ROUTE_CONFIGURATION) ?? []).flatMap(({ json }) => routesOf(json));
  for (const { id, clusters } of routes) {
    const names = clusters.flatMap(cluster => statNames.get(cluster) ?? []);
    for (const name of names) addTo(behind, id, name);
    // The first Mapping names a route. Each of several has its own cluster.
    const [only] = names;
    if (names.length === 1 && only !== undefined) addTo(origins, only, id);
  }
  const served = new Set(
    (resources.get(ROUTE_CONFIGURATION) ?? []).flatMap(route => route.origins),
  );
  return {
    origins: name => listOf(origins.get(name)),
    statName: name => statNames.get(name),
    behind: id => listOf(behind.get(id)) ?? [],
    serves: id => served.has(id),
  };
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

/** Returns the routes that are named after a Mapping or ProxyConfig, with their clusters. */
function routesOf(json: JsonObject) {
  return allRoutes(json).flatMap(named);
}

function allRoutes({ virtual_hosts }: JsonObject): readonly JsonObject[] {
  return objectsOf(virtual_hosts).flatMap(({ routes }) => objectsOf(routes));
}

function named({ name, route }: JsonObject) {
  if (typeof name !== 'string' || !isJsonObject(route)) return [];
  const { cluster, weighted_clusters: split } = route;
  const parts = isJsonObject(split) ? objectsOf(split.clusters).map(part => part.name) : [];
  return [{ id: name, clusters: [cluster, ...parts].filter(each => typeof each === 'string') }];
}

function objectsOf(json: Json | undefined): readonly JsonObject[] {
  return Array.isArray(json) ? json.filter(isJsonObject) : [];
}

function addTo(map: Map<string, Set<string>>, key: string, value: string): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, new Set([value]));
  else known.add(value);
}

function listOf(set: ReadonlySet<string> | undefined): readonly string[] | undefined {
  return set && [...set];
}
