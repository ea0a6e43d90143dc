import type { Compiled } from '#controlplane/compile/compiled.ts';
import { CLUSTER } from '#protos/type-url.ts';
import { clusterStatName } from './stat-name.ts';

/** The clusters of a node group, by their name in statistics. */
export type ConfiguredClusters = {
  /** Returns the ids behind a cluster, or undefined when there is no such cluster. */
  origins(cluster: string): readonly string[] | undefined;
  /** Returns the clusters of a Mapping or ProxyConfig. */
  behind(id: string): readonly string[];
};

const NONE: ConfiguredClusters = { origins: () => undefined, behind: () => [] };

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
  const origins = new Map<string, readonly string[]>();
  const behind = new Map<string, string[]>();
  for (const { name, json, origins: ids } of resources.get(CLUSTER) ?? []) {
    const { alt_stat_name } = json;
    const cluster = clusterStatName(typeof alt_stat_name === 'string' ? alt_stat_name : name);
    origins.set(cluster, [...(origins.get(cluster) ?? []), ...ids]);
    for (const id of ids) {
      const clusters = behind.get(id);
      if (clusters === undefined) behind.set(id, [cluster]);
      else clusters.push(cluster);
    }
  }
  return { origins: name => origins.get(name), behind: id => behind.get(id) ?? [] };
}
