import { protectedOriginsOf } from '#resources/kinds/filter/filter-oauth2-origins.ts';
import type {
  FilterReference,
  TargetFilter,
} from '#resources/kinds/filter-policy/filter-policy.ts';
import { isReadableTarget, type PolicyTarget } from '#resources/kinds/gateway-api/policy-target.ts';
import { parseGlob } from '#resources/match/glob.ts';
import { commonText } from '#resources/match/glob-relation.ts';
import type { Problem } from '#resources/problem.ts';
import type { ReadableRule, Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import type { InternalOrigins } from '#resources/words/origin-pattern.ts';
import { domainGlob } from '../mapping-domain.ts';
import { problemOf } from '../problem-of.ts';
import { conditionProblems } from './condition-problems.ts';
import { filterKey } from './filter-key.ts';
import type { ServedFilters } from './served-filters.ts';

type Policy = Resource<'FilterPolicy'>;
type Filter = Resource<'Filter'>;
type AnyFilter = FilterReference | TargetFilter;

/**
 * Returns what happens to the paths of closed FilterPolicies for which no last good version stands
 * (docs/adr/0002-closed-or-last-good.md).
 */
export function closedPolicyProblems({ closed }: ResourceSet): readonly Problem[] {
  return closed
    .filter(
      ({ kind, rules, targets }) =>
        kind === 'FilterPolicy' && (rules?.length !== 0 || targets !== undefined),
    )
    .map(policy => {
      const targets = (policy.targets ?? []).map(target => targetText(policy.namespace, target));
      const covered = [...targets, ...(policy.rules ?? [{}]).map(closedText)].join(', ');
      const { reason = 'the FilterPolicy is rejected' } = policy;
      return problemOf(policy, 'error', 'spec', `${reason}: ${covered}`);
    });
}

/**
 * Returns Problems between FilterPolicies and the Filters that they name, each of which is valid by
 * itself.
 */
export function policyProblems(resources: ResourceSet, served: ServedFilters): readonly Problem[] {
  const rejected = new Set([
    ...resources.closed.filter(({ kind }) => kind === 'Filter').map(keyOf),
    ...resources.filters.map(keyOf).filter(name => !served.byName.has(name)),
  ]);
  const lookUp = (policy: Policy, namespace: string | undefined, name: string): Found => {
    const key = filterKey(namespace ?? policy.namespace, name);
    const filter = served.byName.get(key)?.filter;
    if (filter !== undefined) return { filter };
    return {
      missing: rejected.has(key) ? `the Filter ${key} is rejected` : `there is no Filter ${key}`,
    };
  };
  return resources.filterPolicies.flatMap(policy =>
    filterLists(policy).flatMap(({ field, filters, ...rule }) => {
      const find: LookUp = (namespace, name) => lookUp(policy, namespace, name);
      return [
        ...filters.flatMap((item, at) =>
          itemProblems({ policy, ...rule }, item, `${field}[${at}]`, find),
        ),
        ...conditionProblems(policy, filters, field, ({ name, namespace }) => {
          const found = find(namespace, name);
          return 'filter' in found ? found.filter : undefined;
        }),
      ];
    }),
  );
}

/** Returns the lists of Filters of a policy, and what is closed when one of a list is missing. */
function filterLists({ spec: { filters = [], rules } }: Policy) {
  return [
    ...rules.map((rule, index) => ({
      closed: closedText(rule),
      host: rule.host,
      field: `spec.rules[${index}].filters`,
      filters: rule.filters,
    })),
    {
      closed: 'what it targets answers 500',
      host: undefined,
      field: 'spec.filters',
      filters,
    },
  ];
}

/** Names what a closed rule covers, since the operator looks for the path that answers 500. */
function closedText({ host = '*', path = '*' }: ReadableRule): string {
  return `path ${path} of host ${host} answers 500`;
}

function targetText(namespace: string, target: PolicyTarget): string {
  if (!isReadableTarget(target))
    return `every Gateway, ListenerSet and route of the namespace ${namespace} answers 500`;
  const { kind, name, sectionName } = target;
  const section = sectionName === undefined ? '' : `, ${sectionName},`;
  return `the ${kind} ${name}${section} answers 500`;
}

/** A rule's policy, and what happens to its requests when it is closed. */
type PolicyRule = {
  readonly policy: Policy;
  readonly closed: string;
  /** Undefined: it is for targets. */
  readonly host: string | undefined;
};
type Found = { readonly filter: Filter } | { readonly missing: string };
type LookUp = (namespace: string | undefined, name: string) => Found;

function keyOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return filterKey(namespace, name);
}

function itemProblems(
  rule: PolicyRule,
  item: AnyFilter,
  place: string,
  lookUp: LookUp,
): readonly Problem[] {
  const found = lookUp(item.namespace, item.name);
  if ('missing' in found) {
    const message = `${found.missing}: ${rule.closed}`;
    return [problemOf(rule.policy, 'error', `${place}.name`, message)];
  }
  return [
    ...argumentProblems(rule, item, found.filter, `${place}.arguments`),
    ...scopeProblems(rule, item, found.filter, `${place}.arguments.scope`),
    ...originProblems(rule, item, found.filter, `${place}.name`),
    ...innerProblems(rule, item, `${place}.arguments.insteadOfRedirect.filters`, lookUp),
  ];
}

function argumentProblems(
  { policy, closed }: PolicyRule,
  { name, arguments: { insteadOfRedirect, sameSite } }: AnyFilter,
  { spec: { OAuth2 } }: Filter,
  place: string,
): readonly Problem[] {
  if (OAuth2?.grantType !== 'AuthorizationCode') {
    const what = OAuth2 === undefined ? 'a JWT filter' : `of grantType \`${OAuth2.grantType}\``;
    return Object.entries({ insteadOfRedirect, sameSite }).flatMap(([field, value]) => {
      const message = `\`${field}\` has no effect: the Filter ${name} is ${what}`;
      return value === undefined
        ? []
        : [problemOf(policy, 'warning', `${place}.${field}`, message)];
    });
  }
  const open = protectedOriginsOf(OAuth2).some(({ origin }) => origin.scheme === 'http');
  if (sameSite !== 'none' || !open) return [];
  const message = `\`none\` needs https, and the protected origins of ${name} are http: browsers would reject its cookies, so ${closed}`;
  return [problemOf(policy, 'error', `${place}.sameSite`, message)];
}

/** An empty value is no scope (RFC 6749 section 3.3). Left out, it would open the path. */
function scopeProblems(
  { policy }: PolicyRule,
  { name, arguments: { scope = [] } }: AnyFilter,
  { spec: { OAuth2 } }: Filter,
  place: string,
): readonly Problem[] {
  const { inheritScopeArgument, stripInheritedScope } = OAuth2?.accessTokenJWTFilter ?? {};
  if (inheritScopeArgument !== true || stripInheritedScope !== true) return [];
  return scope.flatMap((value, index) => {
    const message = `\`stripInheritedScope\` of the Filter ${name} leaves nothing of "${value}", and no access token has an empty scope: requests are answered 403. Leave out the "/" at its end, or \`stripInheritedScope\``;
    return value.endsWith('/') ? [problemOf(policy, 'warning', `${place}[${index}]`, message)] : [];
  });
}

/** A session is for the hosts of the protected origins alone. */
function originProblems(
  { host, policy }: PolicyRule,
  { name }: AnyFilter,
  { spec: { OAuth2 } }: Filter,
  place: string,
): readonly Problem[] {
  if (host === undefined || OAuth2?.grantType !== 'AuthorizationCode') return [];
  const glob = parseGlob(host);
  const mayMeet = ({ internalOrigin: { host: own }, includeSubdomains }: InternalOrigins) =>
    [domainGlob(own), ...(includeSubdomains ? [parseGlob(`*.${own}`)] : [])].some(
      each => commonText(each, glob) !== undefined,
    );
  if (protectedOriginsOf(OAuth2).some(mayMeet)) return [];
  const message = `no protected origin of the Filter ${name} is on the host "${host}", so nobody can log in there: requests are answered 403. Add it to \`protectedOrigins\`, or correct the host`;
  return [problemOf(policy, 'warning', place, message)];
}

function innerProblems(
  { policy, closed }: PolicyRule,
  { arguments: { insteadOfRedirect } }: AnyFilter,
  place: string,
  lookUp: LookUp,
): readonly Problem[] {
  return (insteadOfRedirect?.filters ?? []).flatMap(({ namespace, name }, index) => {
    const found = lookUp(namespace, name);
    const reason =
      'missing' in found
        ? found.missing
        : found.filter.spec.OAuth2?.grantType === 'AuthorizationCode'
          ? `the Filter ${name} would redirect, so it cannot decide instead of a redirect`
          : undefined;
    return reason === undefined
      ? []
      : [problemOf(policy, 'error', `${place}[${index}].name`, `${reason}: ${closed}`)];
  });
}

/** Returns the Problem of a Mapping with `bypass_auth` on a host where filters run. */
export function bypassProblems(mapping: Resource<'Mapping'>): Problem {
  const message =
    'no filters run here, on a host where they run elsewhere: session cookies of the gateway reach this service, headers that Filters set do not';
  return problemOf(mapping, 'warning', 'spec.bypass_auth', message);
}
