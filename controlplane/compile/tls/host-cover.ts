import { selectorOf } from '#resources/kinds/host/host-selector.ts';
import type { Problem } from '#resources/problem.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { coveringDomains } from '../domain-cover.ts';
import { mappingDomain } from '../mapping-domain.ts';
import { problemOf } from '../problem-of.ts';
import { type EdgeHost, edgeHosts } from './edge-hosts.ts';
import { choiceOf, type HostChoice, hasMapping, hostChoices, NO_CHOICE } from './host-choice.ts';

/** The names on which Mappings are served. */
export type HostCover = {
  /** Returns the Host of the requests in the virtual host of this domain. */
  readonly ownerOf: (domain: string) => EdgeHost | undefined;
  /**
   * Returns whether Mappings are served there. Without any Host they are on every name, else on the
   * names of Hosts.
   */
  readonly covers: (domain: string) => boolean;
  /** Which of them, by the keys of choices. */
  readonly choices: ReadonlyMap<string, HostChoice>;
};

/** Builds it for Hosts of these resources, which are those of the edge. */
export function hostCover(
  hosts: readonly EdgeHost[],
  { closed, config, hosts: written }: Pick<ResourceSet, 'closed' | 'config' | 'hosts'>,
): HostCover {
  const byName = new Map(hosts.map(host => [host.hostname, host]));
  const ownerOf = (domain: string) =>
    coveringDomains(domain)
      .map(cover => byName.get(cover))
      .find(host => host !== undefined);
  const open = config.serve_other_hosts || hosts.every(({ contextOnly = false }) => contextOnly);
  return {
    ownerOf,
    covers: domain => open || ownerOf(domain) !== undefined,
    // What an overruled Host chooses must not be served on others either.
    choices: hostChoices([...written.map(({ spec }) => selectorOf(spec)), ...closed]),
  };
}

/** Returns where these resources, which are those of the edge, serve Mappings. */
export function hostCoverOf(resources: ResourceSet): HostCover {
  return hostCover(edgeHosts(resources).hosts, resources);
}

/** Returns an error for each Mapping that is never served, since no Host has it. */
export function uncoveredProblems(
  { mappings }: ResourceSet,
  hosts: readonly EdgeHost[],
  { choices, covers, ownerOf }: HostCover,
): readonly Problem[] {
  if (covers('*') && choices.size === 1) return [];
  const within = new Map<string, Set<string>>();
  for (const host of hosts)
    for (const domain of coveringDomains(host.hostname)) {
      const known = within.get(domain) ?? new Set();
      within.set(domain, known.add(choiceOf(host)));
    }
  return mappings.flatMap(mapping => {
    const domain = mappingDomain(mapping.spec);
    const around = covers(domain) ? [choiceOf(ownerOf(domain))] : [];
    const having = [...around, ...(within.get(domain) ?? [])];
    if (having.some(key => hasMapping(choices.get(key), mapping))) return [];
    if (having.includes(NO_CHOICE))
      return [problemOf(mapping, 'error', 'metadata.labels', LEFT_TO_OTHERS)];
    const message = having.length === 0 ? uncovered(domain) : unchosen(domain);
    return [problemOf(mapping, 'error', 'spec.host', message)];
  });
}

/** Of a Mapping for every host that names which do not choose would have without its labels. */
const LEFT_TO_OTHERS =
  'the Mapping is not served: it has a label by which Hosts choose Mappings (`mappingSelector`), and no Host in force chooses it. Give it the labels of one, or the `host` that it is for';

function uncovered(domain: string): string {
  return `the Mapping is not served: no Host covers "${domain}". Write a Host with this \`hostname\`, or \`serve_other_hosts: true\` in the Module`;
}

function unchosen(domain: string): string {
  return `the Mapping is not served: the Hosts of "${domain}" choose Mappings by labels (\`mappingSelector\`), and not this one. Give it those labels in \`metadata.labels\``;
}
