import { formatPath } from '#resources/finding.ts';
import { closedSelector, selectorOf } from '#resources/kinds/host/host-selector.ts';
import type { Problem } from '#resources/problem.ts';
import type { Rejected, Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import {
  closesEverything,
  RESTRICTION_NAMES,
  type Unserved,
} from '#resources/schema/restrictions.ts';
import { suggest } from '#resources/words/suggest.ts';
import { closeMappings } from './close-mappings.ts';
import { keptFilter } from './kept-lists.ts';
import { EDGE } from './node-groups.ts';
import { problemOf } from './problem-of.ts';

type Item = Resource | Rejected;
type Ignored = (unserved: Unserved) => boolean;

/** The resources, and what happens to those with restrictions that are not served. */
export type WithoutUnserved = {
  /** Mappings, Hosts and TLSContexts among them are closed. */
  readonly resources: ResourceSet;
  /** The first one that is for every path of the edge. All are closed. */
  readonly everything: Item | undefined;
  readonly problems: (group: string) => readonly Problem[];
};

/**
 * Closes what unserved restrictions cover, unless the Module ignores them, and the Mappings that
 * ask for it. It is found once for the same resources, since each node group asks.
 */
export function withoutUnserved(written: ResourceSet): WithoutUnserved {
  const restricted = known.get(written) ?? restrict(written);
  known.set(written, restricted);
  return restricted;
}

const known = new WeakMap<ResourceSet, WithoutUnserved>();

function restrict(written: ResourceSet): WithoutUnserved {
  const resources = closeMappings(written, new Set(toClose(written.mappings)));
  const items = asking(resources);
  const listed = resources.config.ignore;
  if (items.length === 0 && listed.length === 0)
    return { resources, everything: undefined, problems: () => [] };
  const names = new Set(listed.map(name => name.toLowerCase()));
  const ignored: Ignored = ({ name }) => names.has(name.toLowerCase());
  const closing = new Set(items.filter(item => unservedOf(item).some(each => !ignored(each))));
  return {
    resources: close(resources, closing),
    everything: [...closing].find(({ kind }) => closesEverything(kind)),
    problems: group => [
      ...items.filter(item => groupOf(item) === group).flatMap(item => problems(item, ignored)),
      ...(group === EDGE ? unaskedProblems(resources, items) : []),
    ],
  };
}

/**
 * A resource that is rejected for another reason is closed by that, unless it is for every path.
 */
function asking({ closed, hosts, mappings, modules, rateLimitServices, tlsContexts }: ResourceSet) {
  const inForce: readonly Item[] = [
    ...modules,
    ...rateLimitServices,
    ...hosts,
    ...tlsContexts,
    ...askingMappings(mappings),
    ...closed.filter(({ kind }) => closesEverything(kind)),
  ];
  return inForce.filter(asks);
}

const toClose = keptFilter(({ spec }: Resource<'Mapping'>) => spec.closed);
const askingMappings = keptFilter<Resource<'Mapping'>>(asks);

function asks({ unserved }: Item): boolean {
  return unserved !== undefined;
}

function unservedOf({ unserved = [] }: Item): readonly Unserved[] {
  return unserved;
}

function groupOf(item: Item): string {
  return item.kind === 'Mapping' && 'spec' in item ? item.spec.node_group : EDGE;
}

function close(resources: ResourceSet, closing: ReadonlySet<Item>): ResourceSet {
  const { hosts, mappings, tlsContexts } = resources;
  const rejected = [
    ...hosts.filter(host => closing.has(host)).map(host => toRejected(host, [host.spec.hostname])),
    ...tlsContexts
      .filter(context => closing.has(context))
      .map(context => toRejected(context, context.spec.hosts)),
  ];
  const others = {
    ...resources,
    hosts: hosts.filter(host => !closing.has(host)),
    tlsContexts: tlsContexts.filter(context => !closing.has(context)),
    closed: [...resources.closed, ...rejected],
  };
  return closeMappings(others, new Set(mappings.filter(mapping => closing.has(mapping))));
}

/** Where the field that names its Hosts is misspelt, it may be for any. */
function toRejected(resource: Resource, hosts: readonly string[]): Rejected {
  const { kind, namespace, name, id, source } = resource;
  const selector = kind === 'Host' ? closedSelector(selectorOf(resource.spec), resource) : {};
  const isUnread = unservedOf(resource).some(({ meant = '' }) => NAMES_HOSTS.includes(meant));
  return { kind, namespace, name, id, source, ...selector, ...(isUnread ? {} : { hosts }) };
}

const NAMES_HOSTS: readonly string[] = ['spec', 'hosts', 'hostname'];

function problems(item: Item, ignored: Ignored): readonly Problem[] {
  return unservedOf(item).map(unserved => {
    const { name, meant, path } = unserved;
    const what = whatOf(item, unserved);
    const field = formatPath(path);
    if (ignored(unserved))
      return problemOf(item, 'warning', field, `${what}. The Module's \`ignore\` leaves it out`);
    const written = meant === name ? 'Write it where it belongs' : `Write \`${meant}\``;
    const remedy = meant === undefined ? 'Remove it' : written;
    const ignore = `list \`${name}\` in \`ignore\` of the Module to go without it`;
    return problemOf(item, 'error', field, `${what}. ${closedText(item)}. ${remedy}, or ${ignore}`);
  });
}

function whatOf({ kind, name }: Item, { does, meant, path }: Unserved): string {
  const whole = new Map([
    ['kind', kind],
    ['metadata.name', `${kind} ${name}`],
  ]);
  const written = whole.get(formatPath(path)) ?? path.at(-1);
  if (meant === undefined) return `\`${written}\` is not served, and it ${does}`;
  if (meant === written) return `\`${written}\` restricts access, and is not read here`;
  return `unknown field \`${written}\`, did you mean \`${meant}\`? That restricts access`;
}

/** An entry of the Module that nothing asks for is probably misspelt. */
function unaskedProblems(resources: ResourceSet, items: readonly Item[]): readonly Problem[] {
  const [module] = resources.modules;
  const asked = items.flatMap(unservedOf).map(({ name }) => name);
  const known = [...asked, ...RESTRICTION_NAMES].map(name => name.toLowerCase());
  return resources.config.ignore.flatMap((name, index) =>
    module === undefined || known.includes(name.toLowerCase())
      ? []
      : [
          problemOf(
            module,
            'warning',
            formatPath(['spec', 'config', 'ignore', index]),
            `nothing asks for \`${name}\`${suggest(name, [...asked, ...RESTRICTION_NAMES])}`,
          ),
        ],
  );
}

function closedText({ kind }: Item): string {
  switch (kind) {
    case 'Mapping':
      return 'The Mapping answers 500';
    case 'Host':
      return 'The Host answers 500, and has no TLS';
    case 'TLSContext':
      return 'Hosts and Mappings that use it are closed';
    default:
      return 'Every path of the edge answers 500';
  }
}
