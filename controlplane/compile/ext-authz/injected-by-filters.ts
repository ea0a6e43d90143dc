import {
  delegateOf,
  type FilterName,
  headersSetBy,
  injectedBy,
} from '#resources/kinds/filter/injected-headers.ts';
import type { FilterPolicyRule } from '#resources/kinds/filter-policy/filter-policy.ts';
import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { headerIdentity } from '#resources/words/header-identity.ts';
import { filterKey } from './filter-key.ts';
import { hostReach, perHost, reachIndex } from './host-reach.ts';

type Filter = Resource<'Filter'>;

/** Returns the headers that only a Filter may set on a route, in lower case. */
export type IdentityHeadersOf = (filter: Filter) => readonly string[];

/**
 * Returns what finds them, with those of the Filter that it passes access tokens to.
 * `Authorization` is not among them: Filters read the client's own.
 */
export function identityHeadersAmong(filters: readonly Filter[]): IdentityHeadersOf {
  const byName = named(filters);
  return filter =>
    [filter, ...delegatesOf(filter, byName)]
      .flatMap(injectedBy)
      .flatMap(name => [name, headerIdentity(name)])
      .filter(name => name !== 'authorization');
}

type Named = Pick<Filter, 'name' | 'namespace'>;

function keyOf({ name, namespace }: Named): string {
  return filterKey(namespace, name);
}

function delegateKey(filter: Named, delegate: FilterName | undefined): string | undefined {
  return delegate && filterKey(delegate.namespace ?? filter.namespace, delegate.name);
}

function named(filters: readonly Filter[]): ReadonlyMap<string, Filter> {
  return new Map(filters.map(filter => [keyOf(filter), filter]));
}

/** Returns the Filter that gets the access tokens of this one, in a list. */
function delegatesOf(filter: Filter, byName: ReadonlyMap<string, Filter>): readonly Filter[] {
  const delegate = byName.get(delegateKey(filter, delegateOf(filter)) ?? '');
  return delegate === undefined ? [] : [delegate];
}

/**
 * Returns, for a host of a Mapping, the Filters that may set headers of its requests: those that
 * run, and those that get their access tokens.
 */
function filtersOn({
  filters,
  filterPolicies,
}: ResourceSet): (host: string) => ReadonlySet<Filter> {
  const byName = named(filters);
  const find = rulesOf(filterPolicies);
  return perHost(host => {
    const keys = find(host).flatMap(({ filters }) => filters);
    const running = keys.flatMap(key => byName.get(key) ?? []);
    return new Set([...running, ...running.flatMap(filter => delegatesOf(filter, byName))]);
  });
}

/** Returns what finds the rules for a host, each with the keys of its Filters. */
function rulesOf(filterPolicies: ResourceSet['filterPolicies']) {
  const rules = filterPolicies.flatMap(({ spec, namespace }) =>
    spec.rules.map(rule => ({ host: rule.host, filters: filtersOf(rule, namespace) })),
  );
  return reachIndex(rules, ({ host }) => host);
}

/**
 * Returns, per domain of a virtual host, the names of all headers that Filters may set on its
 * requests: in lower case, sorted. Where an OAuth2 Filter runs, the one that gets its access tokens
 * sets headers too. A rejected Filter counts with the names that could be read. A rejected
 * FilterPolicy may name any Filter.
 */
export function injectedOn(resources: ResourceSet): (domain: string) => readonly string[] {
  const { closed, filters, filterPolicies } = resources;
  const rejectedFilters = closed.filter(({ kind }) => kind === 'Filter');
  const names = new Map<string, readonly string[]>([
    ...rejectedFilters.map(rejected => [keyOf(rejected), rejected.injects ?? []] as const),
    ...filters.map(filter => [keyOf(filter), injectedBy(filter)] as const),
  ]);
  const delegates = new Map([
    ...rejectedFilters.map(each => [keyOf(each), delegateKey(each, each.delegate)] as const),
    ...filters.map(each => [keyOf(each), delegateKey(each, delegateOf(each))] as const),
  ]);
  const find = rulesOf(filterPolicies);
  // A policy without any readable rule may be for any host.
  const rejected = closed
    .filter(({ kind }) => kind === 'FilterPolicy')
    .flatMap(({ rules = [{}] }) => rules.map(({ host = '*' }) => host));
  const meetsRejected = hostReach(rejected);
  return perHost(domain => {
    const running = meetsRejected(domain)
      ? [...names.keys()]
      : find(domain).flatMap(({ filters }) => filters);
    const setting = new Set(running.flatMap(key => [key, delegates.get(key) ?? key]));
    const injected = [...setting].flatMap(key => names.get(key) ?? []);
    return [...new Set(injected.flatMap(name => [name, headerIdentity(name)]))].sort();
  });
}

/**
 * Returns, for a host of a Mapping, which Filter may set which header of its requests, by the
 * header's identity.
 */
export function settersOn(resources: ResourceSet): (host: string) => ReadonlyMap<string, Filter> {
  const running = filtersOn(resources);
  return perHost(host => {
    const all = [...running(host)].flatMap(filter =>
      headersSetBy(filter).map(name => [name, filter] as const),
    );
    return new Map(all.reverse());
  });
}

function filtersOf({ filters }: FilterPolicyRule, own: string): readonly string[] {
  return filters.flatMap(({ name, namespace = own, arguments: { insteadOfRedirect } }) => [
    filterKey(namespace, name),
    ...(insteadOfRedirect?.filters ?? []).map(inner =>
      filterKey(inner.namespace ?? own, inner.name),
    ),
  ]);
}
