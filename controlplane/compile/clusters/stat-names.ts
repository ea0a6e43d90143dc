import { remembered } from '#xds/remembered.ts';
import { statName } from '../stat-name.ts';
import type { NamedCluster } from './cluster-names.ts';
import { contentHash } from './content-hash.ts';

/** A cluster that does not change is the very same object in the next compilation. */
const known = new WeakMap<NamedCluster, NamedCluster>();

/**
 * Returns the clusters with names in statistics that have no dot (`alt_stat_name`). Where another
 * one has that name already, a hash tells it apart. A cluster's own name goes before one that the
 * operator chose for its statistics.
 */
export function withStatNames(clusters: readonly NamedCluster[]): readonly NamedCluster[] {
  const chosen = new Set(clusters.filter(isChosen));
  if (chosen.size === 0) return clusters;
  const taken = new Set<string>();
  for (const cluster of clusters) if (!chosen.has(cluster)) taken.add(plainName(cluster));
  return clusters.map(cluster => {
    if (!chosen.has(cluster)) return cluster;
    const plain = plainName(cluster);
    const free = taken.has(plain) ? `${plain}~${contentHash(nameOf(cluster))}` : plain;
    taken.add(free);
    return named(cluster, free);
  });
}

function isChosen(cluster: NamedCluster): boolean {
  return cluster.json.alt_stat_name !== undefined || cluster.name.includes('.');
}

function named(cluster: NamedCluster, alt_stat_name: string): NamedCluster {
  const last = known.get(cluster);
  if (last?.json.alt_stat_name === alt_stat_name) return last;
  const made = { ...cluster, json: { ...cluster.json, alt_stat_name } };
  known.set(cluster, made);
  return made;
}

const plainName = remembered((cluster: NamedCluster) => statName(nameOf(cluster)));

function nameOf({ json, name }: NamedCluster): string {
  return typeof json.alt_stat_name === 'string' ? json.alt_stat_name : name;
}
