import { protectedOriginsOf } from '#resources/filter-oauth2-check.ts';
import type { FilterReference } from '#resources/filter-policy.ts';
import type { Problem } from '#resources/problem.ts';
import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { problemOf } from '../problem-of.ts';
import { filterKey, type ServedFilters } from './served-filters.ts';

type Policy = Resource<'FilterPolicy'>;
type Filter = Resource<'Filter'>;

const CLOSED = 'what the rule covers answers 500';

/** What is wrong between FilterPolicies and the Filters that they name, each of which is right by itself. */
export function policyProblems(resources: ResourceSet, served: ServedFilters): readonly Problem[] {
  const refused = new Set([
    ...resources.closed.filter(({ kind }) => kind === 'Filter').map(keyOf),
    ...resources.filters.map(keyOf).filter(name => !served.byName.has(name)),
  ]);
  const lookUp = (policy: Policy, namespace: string | undefined, name: string): Found => {
    const key = filterKey(namespace ?? policy.namespace, name);
    const filter = served.byName.get(key)?.filter;
    if (filter !== undefined) return { filter };
    return { missing: refused.has(key) ? `the Filter ${key} is refused` : `there is no Filter ${key}` };
  };
  return resources.filterPolicies.flatMap(policy =>
    policy.spec.rules.flatMap((rule, index) =>
      rule.filters.flatMap((item, at) =>
        itemProblems(policy, item, `spec.rules[${index}].filters[${at}]`, (namespace, name) =>
          lookUp(policy, namespace, name),
        ),
      ),
    ),
  );
}

type Found = { readonly filter: Filter } | { readonly missing: string };
type LookUp = (namespace: string | undefined, name: string) => Found;

function keyOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return filterKey(namespace, name);
}

function itemProblems(
  policy: Policy,
  item: FilterReference,
  place: string,
  lookUp: LookUp,
): readonly Problem[] {
  const found = lookUp(item.namespace, item.name);
  if ('missing' in found) return [problemOf(policy, 'error', `${place}.name`, `${found.missing}: ${CLOSED}`)];
  return [
    ...argumentProblems(policy, item, found.filter, `${place}.arguments`),
    ...innerProblems(policy, item, `${place}.arguments.insteadOfRedirect.filters`, lookUp),
  ];
}

function argumentProblems(
  policy: Policy,
  { name, arguments: { insteadOfRedirect, sameSite } }: FilterReference,
  { spec: { OAuth2 } }: Filter,
  place: string,
): readonly Problem[] {
  if (OAuth2?.grantType !== 'AuthorizationCode') {
    const what = OAuth2 === undefined ? 'a JWT filter' : `of grantType \`${OAuth2.grantType}\``;
    return Object.entries({ insteadOfRedirect, sameSite }).flatMap(([field, value]) => {
      const message = `\`${field}\` has no effect: the Filter ${name} is ${what}`;
      return value === undefined ? [] : [problemOf(policy, 'warning', `${place}.${field}`, message)];
    });
  }
  const open = protectedOriginsOf(OAuth2).some(({ origin }) => origin.scheme === 'http');
  if (sameSite !== 'none' || !open) return [];
  const message = `\`none\` needs https, and the protected origins of ${name} are http: browsers would refuse its cookies; ${CLOSED}`;
  return [problemOf(policy, 'error', `${place}.sameSite`, message)];
}

function innerProblems(
  policy: Policy,
  { arguments: { insteadOfRedirect } }: FilterReference,
  place: string,
  lookUp: LookUp,
): readonly Problem[] {
  return (insteadOfRedirect?.filters ?? []).flatMap(({ namespace, name }, index) => {
    const found = lookUp(namespace, name);
    const reason =
      'missing' in found
        ? found.missing
        : found.filter.spec.OAuth2 !== undefined
          ? `the Filter ${name} is an OAuth2 filter, which cannot decide instead of a redirect`
          : undefined;
    return reason === undefined
      ? []
      : [problemOf(policy, 'error', `${place}[${index}].name`, `${reason}: ${CLOSED}`)];
  });
}

/** A Mapping with `bypass_auth` on a host where filters run. */
export function bypassProblems(mapping: Resource<'Mapping'>): Problem {
  const message =
    'no filters run here, on a host where they run elsewhere: session cookies of the gateway reach this service, headers that Filters set do not';
  return problemOf(mapping, 'warning', 'spec.bypass_auth', message);
}
