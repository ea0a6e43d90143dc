import type { Compiled } from '#controlplane/compile/compiled.ts';
import { isJsonObject, type Json, type JsonObject } from '#protos/json.ts';
import { CLUSTER, ROUTE_CONFIGURATION } from '#protos/type-url.ts';
import { clusterStatName } from './stat-name.ts';

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
    this.#compiled.set(group, compiled);
    this.#indexed.delete(group);
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
    const statName = clusterStatName(typeof alt_stat_name === 'string' ? alt_stat_name : name);
    statNames.set(name, statName);
    for (const id of ids) addTo(behind, id, statName);
    origins.set(statName, new Set([...(origins.get(statName) ?? []), ...ids]));
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

/** Returns the routes that are named after a Mapping or ProxyConfig, with their clusters. */
function routesOf({ virtual_hosts }: JsonObject) {
  return objectsOf(virtual_hosts).flatMap(({ routes }) =>
    objectsOf(routes).flatMap(({ name, route }) => {
      if (typeof name !== 'string' || !isJsonObject(route)) return [];
      const { cluster, weighted_clusters: split } = route;
      const parts = isJsonObject(split) ? objectsOf(split.clusters).map(part => part.name) : [];
      return [{ id: name, clusters: [cluster, ...parts].filter(each => typeof each === 'string') }];
    }),
  );
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
