import type { JsonObject } from '#protos/json.ts';
import type { Problem } from '#resources/problem.ts';
import type { ReadableRule, Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { bypasses } from '../bypasses.ts';
import type { NamedCluster } from '../clusters/cluster-names.ts';
import { extAuthzCluster } from '../clusters/ext-authz-cluster.ts';
import { EXT_AUTHZ_CLUSTER } from '../clusters/reserved-clusters.ts';
import { keptFilter } from '../kept-lists.ts';
import { mappingDomain } from '../mapping-domain.ts';
import type { Memo } from '../memo.ts';
import type { CompileOptions } from '../options.ts';
import { choiceOf, hasMapping } from '../tls/host-choice.ts';
import type { HostCover } from '../tls/host-cover.ts';
import { type AskedOn, askedOn, rulesOn } from './asked-paths.ts';
import { decisionRevision } from './decision-revision.ts';
import { forgedMatchProblems } from './forged-match-problems.ts';
import { type HostReach, hostReach } from './host-reach.ts';
import { hostlessRules } from './hostless-rules.ts';
import { injectedOn, settersOn } from './injected-by-filters.ts';
import { internalOrigins, originMayMeet } from './internal-origins.ts';
import { otherNames } from './other-names.ts';
import { partialCover } from './partial-cover.ts';
import { bypassProblems, closedPolicyProblems, policyProblems } from './policy-problems.ts';
import { type RememberedOn, rememberedOn } from './remembered-rules.ts';
import { ruleConflicts } from './rule-conflicts.ts';
import { orderedRules, ruleFinder } from './rule-order.ts';
import { type ServedFilters, servedFilters } from './served-filters.ts';
import { type EdgeTokens, edgeTokens, type RouteReferences } from './tokens-on.ts';

/** The Filters' part of the edge's configuration. */
export type EdgeFilters = {
  readonly cluster: NamedCluster;
  /**
   * Tells whether filters run on the virtual host of a domain. A rule may match there, or it may be
   * a protected origin.
   */
  readonly isChecked: HostReach;
  /** Tells whether the gateway's own paths are on the virtual host of a domain. */
  readonly isOrigin: HostReach;
  /** Hosts of protected origins. Each needs a virtual host even if nothing else is there. */
  readonly originHosts: readonly string[];
  /**
   * Tells whether rules for some paths may apply on the virtual host of a domain. They compare
   * letter case. With `bypass` only those of rejected policies count, which close what they cover
   * everywhere.
   */
  readonly comparesPaths: (domain: string, bypass: boolean) => boolean;
  /**
   * Returns the headers that only Filters may set in the virtual host of a domain, in lower case,
   * sorted.
   */
  readonly identityHeaders: (domain: string) => readonly string[];
  /**
   * Returns what a route with `bypass_auth` also removes, since no filter of the host decides about
   * it there.
   */
  readonly takenOnBypass: (host: string) => readonly string[];
  /**
   * Returns, for a host of a Mapping, the Filters that may set a header of its requests, by the
   * header's identity.
   */
  readonly settersOn: (host: string) => ReadonlyMap<string, Resource<'Filter'>>;
  /** Returns which paths the service is asked about where filters run. */
  readonly askedOn: AskedOn;
  /**
   * Returns on which paths proxies may repeat decisions. Undefined: no Filter lets them.
   */
  readonly rememberedOn: RememberedOn | undefined;
  /** Tells which tokens proxies verify, and whose. */
  readonly tokens: EdgeTokens;
  /** Ids of the resources that decide where filters run. */
  readonly origins: readonly string[];
  readonly problems: readonly Problem[];
};

/**
 * Returns where filters run at the edge, and their Problems. `routes` are those that Gateway API
 * routes name. `cover` tells where Mappings are served. See docs/adr/0011-ext-authz.md.
 */
export function edgeFilters(
  resources: ResourceSet,
  options: CompileOptions,
  memo: Memo,
  routes: RouteReferences,
  cover: HostCover,
): EdgeFilters {
  const { filters, filterPolicies, mappings } = resources;
  const served: ServedFilters = servedFilters(resources);
  const all = internalOrigins(resources);
  const meetsRule = hostReach(
    filterPolicies.flatMap(({ spec }) => spec.rules.map(({ host }) => host)),
  );
  const isOrigin = (domain: string) => all.some(origin => originMayMeet(origin, domain));
  const isChecked = (domain: string) => meetsRule(domain) || isOrigin(domain);
  const injected = injectedOn(resources);
  const identityHeaders = (domain: string) => injected(domain).filter(name => name !== CREDENTIALS);
  const isBypassed = bypasses(mappings);
  const bypassing = withBypass(mappings).filter(
    ({ spec }) => isBypassed(spec) && isChecked(mappingDomain(spec)),
  );
  return {
    cluster: clusterOf(options, memo),
    isChecked,
    isOrigin,
    originHosts: [...new Set(all.map(({ internalOrigin }) => internalOrigin.host))].filter(
      host => host !== '*',
    ),
    comparesPaths: comparesPaths(resources),
    identityHeaders,
    takenOnBypass: host => injected(host).filter(name => name === CREDENTIALS),
    settersOn: settersOn(resources),
    ...memo.of(memo, 'asked paths', [...filterPolicies, ...filters], () =>
      pathsOn(resources, isOrigin, memo),
    ),
    tokens: tokensOf(resources, served, routes, memo),
    origins: [...filterPolicies, ...filters].map(({ id }) => id),
    problems: [
      ...served.problems,
      ...policyProblems(resources, served),
      ...closedPolicyProblems(resources),
      ...bypassing.map(bypassProblems),
      ...forgedMatchProblems(mappings, identityHeaders),
      ...ruleProblems(resources, memo, cover),
    ],
  };
}

const withBypass = keptFilter(({ spec }: Resource<'Mapping'>) => spec.bypass_auth);

/** A Filter is in force or not by what it refers to. */
function tokensOf(
  { filterPolicies, filters }: ResourceSet,
  { byName }: ServedFilters,
  routes: RouteReferences,
  memo: Memo,
): EdgeTokens {
  const named = [[...byName.keys()].join(), JSON.stringify([...routes])];
  const inputs = [...filterPolicies, ...filters, ...named];
  return memo.of(memo, 'tokens of the edge', inputs, () => {
    const { on, providers } = edgeTokens(orderedRules(filterPolicies), byName, routes);
    return { on: remembered(on), providers };
  });
}

/**
 * Returns Problems of rules beside each other, and beside Mappings. They are found again only after
 * a change.
 */
function ruleProblems(
  resources: ResourceSet,
  memo: Memo,
  { choices, covers, ownerOf }: HostCover,
): readonly Problem[] {
  const { filterPolicies, mappings } = resources;
  if (filterPolicies.length === 0) return [];
  const { conflicts, find, rules } = memo.of(memo, 'rule order', filterPolicies, () => {
    const rules = orderedRules(filterPolicies);
    const find = ruleFinder(rules);
    return { conflicts: ruleConflicts(rules, find), find, rules };
  });
  const choice = choices.get(choiceOf(ownerOf('*')));
  const isOnAnyName = (mapping: Resource<'Mapping'>) => hasMapping(choice, mapping);
  return [
    ...conflicts,
    ...partialCover(mappings, rules, find),
    ...(covers('*') ? otherNames(mappings, rules, find, isOnAnyName) : []),
    ...hostlessRules(resources, rules),
  ];
}

function pathsOn(
  resources: ResourceSet,
  isOrigin: (domain: string) => boolean,
  memo: Memo,
): Pick<EdgeFilters, 'askedOn' | 'rememberedOn'> {
  const rules = rulesOn(orderedRules(resources.filterPolicies));
  const revision = decisionRevision(resources, memo);
  const repeating = rememberedOn(rules, resources.filters, revision, isOrigin);
  return {
    askedOn: remembered(askedOn(rules, isOrigin)),
    rememberedOn: repeating && remembered(repeating),
  };
}

/** Virtual hosts of which it is remembered, since hosts come and go. */
const MOST_HOSTS = 20_000;

function remembered<T>(of: (domains: readonly string[]) => T): (domains: readonly string[]) => T {
  const known = new Map<string, T>();
  return domains => {
    const key = domains.join();
    const found = known.get(key) ?? of(domains);
    if (known.size > MOST_HOSTS) known.clear();
    known.set(key, found);
    return found;
  };
}

/** Filters read the client's own header, and decide what happens to it. */
const CREDENTIALS = 'authorization';

function comparesPaths({ closed, filterPolicies }: ResourceSet): EdgeFilters['comparesPaths'] {
  const rejected = closed
    .filter(({ kind }) => kind === 'FilterPolicy')
    .flatMap(({ rules = [] }) => rules);
  const inForce = hostReach(hostsByPath(filterPolicies.flatMap(({ spec }) => spec.rules)));
  const closing = hostReach(hostsByPath(rejected));
  return (domain, bypass) => closing(domain) || (!bypass && inForce(domain));
}

/** Returns the hosts of rules that are not for every path. */
function hostsByPath(rules: readonly ReadableRule[]): readonly string[] {
  return rules.filter(({ path = '*' }) => !/^\*+$/.test(path)).map(({ host = '*' }) => host);
}

function clusterOf(options: CompileOptions, memo: Memo): NamedCluster {
  const { extAuthz, serviceTls, trustDomain } = options;
  const inputs = [extAuthz.host, extAuthz.port, serviceTls, trustDomain];
  const json: JsonObject = memo.of(memo, 'ext-authz cluster', inputs, () =>
    extAuthzCluster(extAuthz, options),
  );
  return { name: EXT_AUTHZ_CLUSTER, json, origins: [] };
}
