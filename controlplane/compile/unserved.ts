import { formatPath } from '#resources/finding.ts';
import { isKind } from '#resources/kinds.ts';
import type { Problem } from '#resources/problem.ts';
import type { Refused, Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import type { Unserved } from '#resources/restrictions.ts';
import { closeMappings } from './close-mappings.ts';
import { moduleConfig } from './module-config.ts';
import { EDGE } from './node-groups.ts';
import { problemOf } from './problem-of.ts';

type Item = Resource | Refused;

/** The resources, and what becomes of those that ask for restrictions which are not served. */
export type WithoutUnserved = {
  /** Mappings, Hosts and TLSContexts among them are closed. */
  readonly resources: ResourceSet;
  /** The first that is for every path of the edge: all are closed. */
  readonly everything: Item | undefined;
  readonly problems: (group: string) => readonly Problem[];
};

/** Closes what restrictions cover that are not served, unless the Module ignores them. */
export function withoutUnserved(resources: ResourceSet): WithoutUnserved {
  const items = asking(resources);
  if (items.length === 0) return { resources, everything: undefined, problems: () => [] };
  const ignored = new Set<string>(moduleConfig(resources).ignore);
  const closing = new Set(items.filter(item => unservedOf(item).some(({ name }) => !ignored.has(name))));
  return {
    resources: close(resources, closing),
    everything: [...closing].find(isForEverything),
    problems: group => items.filter(item => groupOf(item) === group).flatMap(item => problems(item, ignored)),
  };
}

/** What is rejected for another reason is closed by that, unless it is for every path. */
function asking({ closed, hosts, mappings, modules, tlsContexts }: ResourceSet): readonly Item[] {
  const asks = (item: Item) => item.unserved !== undefined;
  const inForce: readonly Item[] = [...modules, ...hosts, ...tlsContexts].filter(asks);
  return [
    ...inForce,
    ...mappings.filter(asks),
    ...closed.filter(item => asks(item) && isForEverything(item)),
  ];
}

function isForEverything({ kind }: Item): boolean {
  return kind === 'Module' || !isKind(kind);
}

function unservedOf({ unserved = [] }: Item): readonly Unserved[] {
  return unserved;
}

function groupOf(item: Item): string {
  return item.kind === 'Mapping' && 'spec' in item ? item.spec.node_group : EDGE;
}

function close(resources: ResourceSet, closing: ReadonlySet<Item>): ResourceSet {
  const { hosts, mappings, tlsContexts } = resources;
  const refused = [
    ...hosts.filter(host => closing.has(host)).map(host => toRefused(host, [host.spec.hostname])),
    ...tlsContexts
      .filter(context => closing.has(context))
      .map(context => toRefused(context, context.spec.hosts)),
  ];
  const others = {
    ...resources,
    hosts: hosts.filter(host => !closing.has(host)),
    tlsContexts: tlsContexts.filter(context => !closing.has(context)),
    closed: [...resources.closed, ...refused],
  };
  return closeMappings(others, new Set(mappings.filter(mapping => closing.has(mapping))));
}

function toRefused({ kind, namespace, name, id, source }: Resource, hosts: readonly string[]): Refused {
  return { kind, namespace, name, id, source, hosts };
}

function problems(item: Item, ignored: ReadonlySet<string>): readonly Problem[] {
  return unservedOf(item).map(({ name, does, path }) => {
    const what = `\`${path.at(-1) === 'kind' ? item.kind : path.at(-1)}\` is not served, and it ${does}`;
    const field = formatPath(path);
    return ignored.has(name)
      ? problemOf(item, 'warning', field, `${what}: the Module's \`ignore\` leaves it out`)
      : problemOf(item, 'error', field, `${what}: ${closedText(item)}. ${remedy(name)}`);
  });
}

function remedy(name: string): string {
  return `Remove it, or list \`${name}\` in \`ignore\` of the Module to go without it`;
}

function closedText(item: Item): string {
  switch (item.kind) {
    case 'Mapping':
      return 'the Mapping answers 500';
    case 'Host':
      return 'the Host answers 500, and has no TLS';
    case 'TLSContext':
      return 'Hosts and Mappings that use it are closed';
    default:
      return 'every path of the edge answers 500';
  }
}
