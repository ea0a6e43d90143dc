import type { Problem } from '#resources/problem.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { coveringDomains } from '../domain-cover.ts';
import { mappingDomain } from '../mapping-domain.ts';
import { problemOf } from '../problem-of.ts';
import { type EdgeHost, edgeHosts } from './edge-hosts.ts';

/** The names on which Mappings are served. */
export type HostCover = {
  /** Returns the Host of the requests in the virtual host of this domain. */
  readonly ownerOf: (domain: string) => EdgeHost | undefined;
  /**
   * Returns whether Mappings are served there. Without any Host they are on every name, else on the
   * names of Hosts.
   */
  readonly covers: (domain: string) => boolean;
};

/** Builds it. `others` says whether names that no Host covers are served too. */
export function hostCover(hosts: readonly EdgeHost[], others: boolean): HostCover {
  const byName = new Map(hosts.map(host => [host.hostname, host]));
  const ownerOf = (domain: string) =>
    coveringDomains(domain)
      .map(cover => byName.get(cover))
      .find(host => host !== undefined);
  const open = others || hosts.every(({ contextOnly = false }) => contextOnly);
  return { ownerOf, covers: domain => open || ownerOf(domain) !== undefined };
}

/** Returns where these resources, which are those of the edge, serve Mappings. */
export function hostCoverOf(resources: ResourceSet): HostCover {
  return hostCover(edgeHosts(resources).hosts, resources.config.serve_other_hosts);
}

/** Returns an error for each Mapping that is never served, since its host matches no Host. */
export function uncoveredProblems(
  { mappings }: ResourceSet,
  hosts: readonly EdgeHost[],
  { covers }: HostCover,
): readonly Problem[] {
  if (covers('*')) return [];
  const within = new Set(hosts.flatMap(({ hostname }) => coveringDomains(hostname)));
  return mappings.flatMap(mapping => {
    const domain = mappingDomain(mapping.spec);
    if (within.has(domain) || covers(domain)) return [];
    const message = `the Mapping is not served: no Host covers "${domain}". Write a Host with this \`hostname\`, or \`serve_other_hosts: true\` in the Module`;
    return [problemOf(mapping, 'error', 'spec.host', message)];
  });
}
