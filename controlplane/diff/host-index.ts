import { shareHosts } from './region.ts';

/**
 * Returns the function that finds the items for a glob of hosts. Very many items may have the same
 * few hosts, so the items for each are found once.
 */
export function hostIndex<Item>(
  items: readonly Item[],
  hostOf: (item: Item) => string,
): (host: string) => readonly Item[] {
  const byHost = [...Map.groupBy(items, hostOf)];
  const known = new Map<string, readonly Item[]>();
  return host => {
    const found =
      known.get(host) ?? byHost.flatMap(([other, all]) => (shareHosts(other, host) ? all : []));
    known.set(host, found);
    return found;
  };
}
