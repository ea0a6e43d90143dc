import type { FilterPolicyRule } from '#resources/filter-policy.ts';
import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { headerIdentity } from '../header-identity.ts';
import { hostReach } from './host-reach.ts';
import { filterKey } from './served-filters.ts';

type Filter = Resource<'Filter'>;

/** Names of the headers that a Filter may set, in lower case. */
export function injectedBy({ spec: { OAuth2, JWT } }: Filter): readonly string[] {
  return (OAuth2 ?? JWT)?.injectRequestHeaders.map(({ name }) => name.toLowerCase()) ?? [];
}

/** Per host of a Mapping, the names of all headers that the filters of a rule may set on its requests: in lower case, sorted. */
export function injectedOn({ filters, filterPolicies }: ResourceSet): (host: string) => readonly string[] {
  const byName = new Map(filters.map(filter => [filterKey(filter.namespace, filter.name), filter]));
  const known = new Map<string, readonly string[]>();
  const names = (host: string) => {
    const injecting = new Set<Filter>();
    for (const { spec, namespace } of filterPolicies) {
      for (const rule of spec.rules) {
        if (!hostReach([rule.host])(host)) continue;
        for (const name of filtersOf(rule, namespace)) {
          const filter = byName.get(name);
          if (filter !== undefined) injecting.add(filter);
        }
      }
    }
    const injected = [...injecting].flatMap(injectedBy);
    return [...new Set(injected.flatMap(name => [name, headerIdentity(name)]))].sort();
  };
  return host => {
    const found = known.get(host) ?? names(host);
    known.set(host, found);
    return found;
  };
}

function filtersOf({ filters }: FilterPolicyRule, own: string): readonly string[] {
  return filters.flatMap(({ name, namespace = own, arguments: { insteadOfRedirect } }) => [
    filterKey(namespace, name),
    ...(insteadOfRedirect?.filters ?? []).map(inner => filterKey(inner.namespace ?? own, inner.name)),
  ]);
}
