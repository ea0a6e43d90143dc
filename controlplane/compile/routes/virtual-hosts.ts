import type { JsonObject } from '#protos/json.ts';
import type { Rejected } from '#resources/resource.ts';
import { compareText } from '#resources/words/order.ts';
import { coveringDomains } from '../domain-cover.ts';
import type { EdgeFilters } from '../ext-authz/edge-filters.ts';
import { GATEWAY_ROUTES, WITHOUT_FILTERS } from '../ext-authz/ext-authz-filter.ts';
import { removingHeaders } from '../ext-authz/identity-headers.ts';
import { writtenDomain } from '../mapping-domain.ts';
import type { Memo } from '../memo.ts';
import { perFilterConfig } from '../per-filter-config.ts';
import { statName } from '../stat-name.ts';
import { NO_CHOICE } from '../tls/host-choice.ts';
import { closedPolicyRoutes, type EscapedSlashes } from './closed-policy.ts';
import { type HostGuard, type HostGuards, isAcmeRoute } from './host-guard.ts';
import type { DeclaredHost } from './proxy-config-hosts.ts';
import { withPublicRoutes } from './public-routes.ts';
import { withRememberingRoutes } from './remembering-routes.ts';
import { compareRoutes, type RouteEntry } from './route-entry.ts';
import { verifyingRoutes } from './verifying-routes.ts';

export type HostInputs = {
  /**
   * Routes of Mappings, each for the domain of its rank, by the key of the choice that has them.
   */
  readonly entries: ReadonlyMap<string, readonly RouteEntry[]>;
  readonly declared: readonly DeclaredHost[];
  /** Routes before those of all resources, on every domain. */
  readonly everywhere: readonly JsonObject[];
  readonly closedPolicies: readonly Rejected[];
  readonly escapedSlashes: EscapedSlashes;
  /** Where filters run. Undefined: there is no such filter. */
  readonly filters:
    | Pick<
        EdgeFilters,
        | 'askedOn'
        | 'identityHeaders'
        | 'isChecked'
        | 'isOrigin'
        | 'originHosts'
        | 'rememberedOn'
        | 'tokens'
      >
    | undefined;
  /** What Hosts require. Undefined: there are none, as always outside the edge. */
  readonly guards: HostGuards | undefined;
  readonly memo: Memo;
  /** What every virtual host has besides domains and routes. */
  readonly common: JsonObject;
};

/** What a virtual host has beside the routes of resources. */
export type HostParts = {
  /** Routes before those of resources. */
  readonly first: readonly JsonObject[];
  /** Returns the routes of resources as they stand there. */
  readonly served: (routes: readonly JsonObject[]) => readonly JsonObject[];
  /** What it has besides name, domains and routes. */
  readonly fields: JsonObject;
};

/** The virtual host of one domain. */
type Plan = {
  readonly domain: string;
  /** The declared virtual host that lists it. */
  readonly listed: DeclaredHost | undefined;
  /** The declared virtual host whose routes it has: this one, or the one that covers the domain. */
  readonly base: DeclaredHost | undefined;
  /** Routes of the Mappings that cover it. Empty where Mappings are not served. */
  readonly lists: readonly Entries[];
  readonly guard: HostGuard;
  /** Domains of one declared virtual host stay together, unless their routes differ. */
  readonly key: string;
};

/**
 * Returns the virtual hosts. Envoy chooses one by the request's host and looks for a route in no
 * other. So each has the routes of all Mappings whose host covers its domain, where Mappings are
 * served. It also has the routes of the ProxyConfig's virtual host that would be chosen without the
 * Mappings. A Mapping for one host takes nothing away from it.
 */
export function virtualHosts(inputs: HostInputs): readonly JsonObject[] {
  const last = inputs.memo.of(inputs.memo, 'sorted routes', [], () => new Map<string, ByHost>());
  const chosen = new Map(
    [...inputs.entries].map(([key, entries]) => {
      const byHost: ByHost = Map.groupBy(entries, ({ rank }) => rank.host);
      // Sorted once here, the lists of several hosts merge fast below.
      for (const [host, all] of byHost) byHost.set(host, sorted(all, last.get(key)?.get(host)));
      return [key, byHost];
    }),
  );
  last.clear();
  for (const [key, byHost] of chosen) last.set(key, byHost);
  const together = Map.groupBy(plansOf(inputs, chosen), ({ key }) => key);
  const taken = new Set<string>();
  return [...together.values()].map(plans => virtualHost(plans, inputs, taken));
}

type Entries = RouteEntry[];
type ByHost = Map<string, Entries>;

/**
 * Most entries are the same as last time, and what is nearly sorted is sorted fast. Without a
 * change it is the very same list.
 */
function sorted(entries: Entries, last: Entries = []): Entries {
  const others = new Set(entries);
  const kept = last.filter(entry => others.delete(entry));
  if (others.size === 0 && kept.length === last.length) return last;
  return [...kept, ...others].sort(compareRoutes);
}

/** Routes in the order in which Envoy tries them. */
type Ordered = { readonly entries: Entries; readonly routes: readonly JsonObject[] };

/** Returns the very same lists for the very same ones, so what is made of them is kept too. */
function ordered(lists: readonly Entries[], base: DeclaredHost | undefined, memo: Memo): Ordered {
  const make = () => {
    const entries = [...lists.flat(), ...(base?.entries ?? [])].sort(compareRoutes);
    return { entries, routes: entries.map(({ route }) => route) };
  };
  const [first, ...others] = lists;
  return first === undefined
    ? make()
    : memo.of(first, 'ordered routes', [...others, ...(base?.entries ?? [])], make);
}

function plansOf(inputs: HostInputs, chosen: ReadonlyMap<string, ByHost>): readonly Plan[] {
  const owners = new Map(
    inputs.declared.flatMap(host => host.domains.map(domain => [domain, host] as const)),
  );
  const { choiceOf = () => NO_CHOICE, covers = () => true, hostnames = [] } = inputs.guards ?? {};
  const routed = [...chosen.values()].flatMap(byHost => [...byHost.keys()]);
  const served = new Set([...owners.keys(), ...routed.filter(covers), ...hostnames]);
  const domains = [...served, ...unservedOrigins(inputs, served)].sort(compareText);
  return domains.map(domain => {
    const covering = coveringDomains(domain);
    const listed = owners.get(domain);
    const base = covering.map(cover => owners.get(cover)).find(owner => owner !== undefined);
    const choice = choiceOf(domain);
    const byHost = chosen.get(choice);
    const hosts = covers(domain) ? covering.filter(cover => byHost?.has(cover)) : [];
    const guard = inputs.guards?.of(domain, base !== undefined) ?? NO_GUARD;
    const lists = hosts.map(host => byHost?.get(host) ?? []);
    const parts = { hosts, choice, guard };
    return { domain, listed, base, lists, guard, key: keyOf(domain, listed, parts, inputs) };
  });
}

function keyOf(
  domain: string,
  listed: DeclaredHost | undefined,
  { guard, ...others }: { readonly guard: HostGuard } & JsonObject,
  inputs: HostInputs,
): string {
  if (listed === undefined) return domain;
  const parts = hostParts(domain, inputs, [], guard);
  return JSON.stringify([listed.origin, listed.name, others, parts]);
}

/**
 * Returns what a virtual host of this domain has beside the routes of resources. `taken` are
 * headers that clients may not send, beside those that Filters of FilterPolicies set.
 */
export function hostParts(
  domain: string,
  inputs: HostInputs,
  taken: readonly string[],
  { first, insecure, perFilter }: HostGuard = NO_GUARD,
  entries: readonly RouteEntry[] = [],
): HostParts {
  const { closedPolicies, common, escapedSlashes, everywhere, filters } = inputs;
  const acme = insecure.length === 0 ? [] : entries.filter(isAcmeRoute);
  return {
    first: [
      ...first,
      ...everywhere,
      ...closedPolicies.flatMap(policy => closedPolicyRoutes(policy, domain, escapedSlashes)),
      ...acme.map(({ route }) => route),
      ...insecure,
      ...(filters?.isOrigin(domain) ? GATEWAY_ROUTES : []),
    ],
    served: routes => publicRoutes(routes, [domain], inputs),
    fields: {
      ...common,
      ...perFilterConfig(
        filtersOf(domain, inputs, taken),
        { typed_per_filter_config: perFilter },
        common,
      ),
    },
  };
}

function filtersOf(domain: string, { filters }: HostInputs, taken: readonly string[]): JsonObject {
  if (filters === undefined) return {};
  const off = filters.isChecked(domain) ? {} : WITHOUT_FILTERS;
  const names = new Set([...filters.identityHeaders(domain), ...taken]);
  return perFilterConfig(off, removingHeaders([...names].sort()));
}

/**
 * Returns protected origins that no virtual host serves. The first of a Filter may be there for
 * logins alone.
 */
function unservedOrigins({ filters }: HostInputs, served: ReadonlySet<string>): readonly string[] {
  const hosts = filters?.originHosts ?? [];
  return hosts.filter(host => !coveringDomains(host).some(domain => served.has(domain)));
}

const NO_GUARD: HostGuard = { first: [], insecure: [], perFilter: {} };

function virtualHost(plans: readonly Plan[], inputs: HostInputs, taken: Set<string>): JsonObject {
  const plan = plans.find(({ domain }) => domain.includes('*')) ?? plans[0];
  if (plan === undefined) throw new Error('a virtual host without domains');
  const { base, domain, guard, lists, listed } = plan;
  const { entries, routes } = ordered(lists, base, inputs.memo);
  const { fields, first } = hostParts(domain, inputs, [], guard, entries);
  const domains = plans.map(({ domain }) => domain);
  const served = publicRoutes(routes, domains, inputs);
  return {
    name: freeName(statName(listed?.name ?? domain), taken),
    domains: domains.map(writtenDomain),
    routes: first.length === 0 ? served : [...first, ...served],
    ...fields,
  };
}

/** Where filters run on some of the domains, routes are as if they ran on all. */
function publicRoutes(
  routes: readonly JsonObject[],
  domains: readonly string[],
  { filters, memo }: Pick<HostInputs, 'filters' | 'memo'>,
): readonly JsonObject[] {
  if (filters === undefined) return routes;
  const { on, providers } = filters.tokens;
  const verifying = (all: readonly JsonObject[]) =>
    providers.length === 0 ? all : verifyingRoutes(all, on(domains), memo);
  // Routes of Gateway API have Filters of their own.
  if (!domains.some(filters.isChecked)) return verifying(routes);
  const all = verifying(withPublicRoutes(routes, filters.askedOn(domains), memo));
  const find = filters.rememberedOn?.(domains);
  return find === undefined ? all : withRememberingRoutes(all, find, memo);
}

/** Envoy requires different names of virtual hosts. Nothing else depends on them. */
function freeName(wanted: string, taken: Set<string>): string {
  let name = wanted;
  while (taken.has(name)) name += '~';
  taken.add(name);
  return name;
}
