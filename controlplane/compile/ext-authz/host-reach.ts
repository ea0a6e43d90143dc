import { matchGlob, parseGlob } from '#resources/match/glob.ts';
import { pushTo } from '#resources/words/push-to.ts';
import { coveringDomains } from '../domain-cover.ts';
import { writtenDomain } from '../mapping-domain.ts';

/**
 * Tells for a virtual host's domain (`*`, `*.example.com` or a host) whether one of many rules'
 * hosts may match a request in it.
 */
export type HostReach = (domain: string) => boolean;

/** Returns true when in doubt. A needless filter costs time, and a missing one costs more. */
export function hostReach(hostGlobs: Iterable<string>): HostReach {
  const find = reachIndex([...new Set(hostGlobs)], host => host);
  return perHost(domain => find(domain).length > 0);
}

/**
 * Returns what finds the items whose host may match a request in the virtual host of a domain, in
 * their order. Hosts without `*`, of which there may be very many, are looked up, not tried.
 */
export function reachIndex<Item>(
  items: readonly Item[],
  hostOf: (item: Item) => string,
): (domain: string) => readonly Item[] {
  const placed = items.map((item, index) => ({ item, index, host: hostOf(item) }));
  const exact = new Map<string, (typeof placed)[number][]>();
  for (const each of placed)
    for (const domain of each.host.includes('*') ? [] : coveringDomains(each.host))
      pushTo(exact, domain, each);
  const globs = placed
    .filter(({ host }) => host.includes('*'))
    .map(each => ({ each, glob: parseGlob(each.host) }));
  return domain => {
    const isWildcard = domain.startsWith('*');
    const host = writtenDomain(domain);
    const wider = globs.filter(({ glob }) => isWildcard || matchGlob(glob, host));
    return [...(exact.get(host) ?? []), ...wider.map(({ each }) => each)]
      .sort((a, b) => a.index - b.index)
      .map(({ item }) => item);
  };
}

/** Returns what answers the same for a host as before, and works it out once. */
export function perHost<T>(of: (host: string) => T): (host: string) => T {
  const known = new Map<string, T>();
  return host => {
    const found = known.get(host) ?? of(host);
    known.set(host, found);
    return found;
  };
}
