import { isDeepStrictEqual } from 'node:util';
import { selectorOf } from '#resources/kinds/host/host-selector.ts';
import { mappingMatchShape } from '#resources/kinds/mapping/mapping-match.ts';
import type { Rejected, Resource } from '#resources/resource.ts';
import { closesEverything, type Unserved } from '#resources/schema/restrictions.ts';
import { salvageVirtualHosts } from './salvage-virtual-hosts.ts';
import { uncoveredPart } from './uncovered-part.ts';

/**
 * Returns what a second document of one name, or of a kind of which there is one, covers beyond the
 * first, which counts. What could not be read is left out, or one typo would close a whole site.
 * @returns undefined when that is nothing
 */
export function uncoveredSecond(
  second: Resource | Rejected,
  first: Resource | Rejected,
): Rejected | undefined {
  if (second.kind === 'FilterPolicy') return uncoveredPart(second, first);
  const [own, other] = [coverOf(second), coverOf(first)];
  const covered = new Set(other.hosts);
  const hosts = own.hosts?.filter(host => !covered.has(host)) ?? [];
  const isNew = own.match !== undefined && !isDeepStrictEqual(own.match, other.match);
  const { mappingSelector, virtualHosts } = own;
  const choosing = mappingSelector === undefined ? {} : { mappingSelector };
  const isWider =
    virtualHosts !== undefined && !isDeepStrictEqual(virtualHosts, other.virtualHosts);
  const unserved = unservedBeyond(second, first);
  if (hosts.length === 0 && !isNew && !isWider && unserved.length === 0) return undefined;
  const { kind, namespace, name, id, source } = second;
  return {
    ...{ kind, namespace, name, id, source },
    ...(isNew && { match: own.match, ...labelsOf(second) }),
    ...(isWider && { virtualHosts }),
    ...(hosts.length > 0 && { hosts, ...choosing }),
    ...(unserved.length > 0 && { unserved }),
  };
}

/** Returns the restrictions for every path of the edge that the first does not ask for. */
function unservedBeyond(
  { kind, unserved = [] }: Resource | Rejected,
  first: Resource | Rejected,
): readonly Unserved[] {
  if (!closesEverything(kind)) return [];
  const asked = new Set(first.unserved?.map(({ name }) => name));
  return unserved.filter(({ name }) => !asked.has(name));
}

type Cover = Pick<Rejected, 'hosts' | 'mappingSelector' | 'match' | 'virtualHosts'>;

/** A shadow serves nothing. */
function coverOf(item: Resource | Rejected): Cover {
  if (!('spec' in item)) return item;
  if (item.kind === 'Host') return { hosts: [item.spec.hostname], ...selectorOf(item.spec) };
  if (item.kind === 'TLSContext') return { hosts: item.spec.hosts };
  if (item.kind === 'ProxyConfig') return salvageVirtualHosts(item.spec);
  return item.kind === 'Mapping' && !item.spec.shadow ? { match: matchOf(item) } : {};
}

/** Hosts choose a Mapping by them. */
function labelsOf(item: Resource | Rejected): Pick<Rejected, 'labels'> {
  const { labels } = ('spec' in item ? item.metadata : item) ?? {};
  return labels === undefined ? {} : { labels };
}

function matchOf({ spec }: Resource<'Mapping'>): NonNullable<Rejected['match']> {
  const fields = Object.entries(spec).filter(([field]) => Object.hasOwn(mappingMatchShape, field));
  // They are the fields of that very shape.
  return Object.fromEntries(fields) as NonNullable<Rejected['match']>;
}
