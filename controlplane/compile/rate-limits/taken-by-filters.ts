import { injectedBy } from '#resources/kinds/filter/injected-headers.ts';
import type {
  FilterPolicyRule,
  TargetFilter,
} from '#resources/kinds/filter-policy/filter-policy.ts';
import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';

/** A request header that no limit may set, and why. */
export type Taken = { readonly name: string; readonly reason: string };

/** Returns why no limit may set a header that `reader` reads. */
export function readBy(reader: string): string {
  return `${reader} reads it from the client's request, where a header that a limit sets is removed`;
}

/**
 * Returns the headers that Filters set, and those that Filters and FilterPolicies read. Without the
 * header of its condition a filter would not run, and the request would pass.
 */
export function takenByFilters({ filters, filterPolicies }: ResourceSet): readonly Taken[] {
  return [...filters.flatMap(takenByFilter), ...filterPolicies.flatMap(takenByPolicy)];
}

function takenByFilter(filter: Resource<'Filter'>): readonly Taken[] {
  const { OAuth2 } = filter.spec;
  const who = `Filter ${filter.namespace}/${filter.name}`;
  const sets = `${who} sets it, and a limit would add its value to that`;
  const cookies = OAuth2?.useSessionCookies.ifRequestHeader;
  return [
    ...injectedBy(filter).map(name => ({ name, reason: sets })),
    { name: 'authorization', reason: OAuth2 === undefined ? readBy(who) : sets },
    ...(cookies === undefined ? [] : [{ name: cookies.name, reason: readBy(who) }]),
  ];
}

function takenByPolicy({ spec, namespace, name }: Resource<'FilterPolicy'>): readonly Taken[] {
  const reason = readBy(`FilterPolicy ${namespace}/${name}`);
  const lists = [...spec.rules.map(({ filters }) => filters), spec.filters ?? []];
  return lists.flatMap(conditionHeaders).map(header => ({ name: header, reason }));
}

/** Returns the headers of all conditions of a list. */
function conditionHeaders(
  filters: FilterPolicyRule['filters'] | readonly TargetFilter[],
): readonly string[] {
  const instead = filters.flatMap(
    ({ arguments: { insteadOfRedirect } }) => insteadOfRedirect ?? [],
  );
  const inner = instead.flatMap(({ filters: list = [] }) => list);
  const conditional = [...filters, ...instead, ...inner];
  return conditional.flatMap(({ ifRequestHeader }) => ifRequestHeader?.name ?? []);
}
