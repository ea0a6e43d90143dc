import type {
  ListenerFilters,
  ServedListener,
  ServedRule,
} from '#controlplane/gateway-api/served-gateway.ts';
import type { JsonObject } from '#protos/json.ts';
import { compareText } from '#resources/words/order.ts';
import { pushTo } from '#resources/words/push-to.ts';
import { coveringDomains } from '../domain-cover.ts';
import { GATEWAY_ROUTE } from '../ext-authz/ext-authz-filter.ts';
import type { IdentityHeadersOf } from '../ext-authz/injected-by-filters.ts';
import type { Memo } from '../memo.ts';
import { closed } from '../routes/closed-route.ts';
import { misdirectedAnswer } from '../routes/host-guard.ts';
import type { HostParts } from '../routes/virtual-hosts.ts';
import { statName } from '../stat-name.ts';
import { setByService } from './external-auth-filter.ts';
import { placedStages } from './listener-stages.ts';
import { withoutImpliedPort } from './rule-redirect.ts';
import {
  type RankedRoute,
  type RouteContext,
  rankedRoutes,
  type ServedHttp,
} from './rule-routes.ts';
import { compareRanks } from './served-rank.ts';
import { stagedHost } from './staged-host.ts';

/**
 * Returns what the virtual host of a domain has beside routes. Clients may not send the headers in
 * `taken`, beside those that Filters of FilterPolicies by host set.
 */
export type PartsOf = (domain: string, taken: readonly string[]) => HostParts;

/** What virtual hosts depend on beside their routes. */
export type HostContext = RouteContext & { readonly identityHeadersOf: IdentityHeadersOf };

/**
 * Returns the virtual hosts of connections that `own` listeners serve. `others` are the hostnames
 * of listeners of other connections at the same port, or of none. A request belongs to the listener
 * with the narrowest hostname, and sees the routes of no other. When that is one of `others`, the
 * client used a connection that is not for this host (RFC 9110, section 15.5.20). Without TLS no
 * other connection is, so nothing is found.
 */
export function listenerHosts(
  own: readonly ServedListener[],
  others: readonly string[],
  context: HostContext,
  parts: PartsOf,
  memo: Memo,
): readonly JsonObject[] {
  const owners = new Map(own.map(listener => [listener.hostname, routesByHost(listener)]));
  const filtersAt = new Map(own.map(({ hostname, filters }) => [hostname, filters]));
  const foreign = new Set(others);
  const elsewhere = context.asked.scheme === 'https' ? [MISDIRECTED] : [];
  const domains = new Set([
    ...foreign,
    ...[...owners].flatMap(([hostname, byHost]) => [hostname, ...byHost.keys()]),
  ]);
  return [...domains].sort(compareText).flatMap(domain => {
    const covering = coveringDomains(domain);
    const hostname = covering.find(cover => owners.has(cover) || foreign.has(cover));
    const byHost = hostname === undefined ? undefined : owners.get(hostname);
    // The virtual host of the other listener answers.
    if (byHost === undefined && !foreign.has(domain)) return [];
    const named = { name: statName(domain), domains: [domain] };
    if (byHost === undefined) return [{ ...named, routes: elsewhere }];
    const served = servedFor(covering, byHost);
    const filters = filtersAt.get(hostname ?? '');
    const { identityHeadersOf } = context;
    const taken = [
      ...setByListener(filters, identityHeadersOf),
      ...rulesOf(served.keys()).flatMap(rule => setByRule(rule, identityHeadersOf)),
    ];
    const host = parts(domain, taken);
    const sorted = sortedRoutes(served, context, memo).map(route =>
      withoutImpliedPort(route, domain, context.asked),
    );
    const stages = placedStages(filters);
    if (stages.length > 0) return [{ ...named, ...stagedHost(stages, host, sorted) }];
    const rest = filters === undefined ? [] : [closed(filters.listener, { prefix: '/' })];
    const routes = [...host.first, ...host.served(sorted), ...rest];
    return [{ ...named, routes, ...host.fields }];
  });
}

const MISDIRECTED = misdirectedAnswer(GATEWAY_ROUTE, { prefix: '/' });

/** Returns the headers that only the filters of a listener may set. */
function setByListener(
  filters: ListenerFilters | undefined,
  identityHeadersOf: IdentityHeadersOf,
): readonly string[] {
  return (filters?.stages ?? []).flatMap(stage =>
    'filters' in stage ? stage.filters.flatMap(identityHeadersOf) : setByService(stage),
  );
}

type ByHost = ReadonlyMap<string, readonly ServedHttp[]>;

function routesByHost({ routes }: ServedListener): ByHost {
  const found = new Map<string, ServedHttp[]>();
  for (const route of routes) {
    if (route.kind !== 'HTTPRoute' && route.kind !== 'GRPCRoute') continue;
    for (const hostname of route.hostnames) pushTo(found, hostname, route);
  }
  return found;
}

/**
 * Returns the routes of a domain, each with the narrowest of its own hostnames that cover it. What
 * the listener makes of them does not count (`GatewayRouteHostnameIntersectionPrecedence`).
 */
function servedFor(covering: readonly string[], byHost: ByHost): ReadonlyMap<ServedHttp, string> {
  const found = new Map<ServedHttp, string>();
  for (const hostname of covering)
    for (const served of byHost.get(hostname) ?? [])
      if (!found.has(served)) found.set(served, ownHostname(served, covering));
  return found;
}

function ownHostname({ route }: ServedHttp, covering: readonly string[]): string {
  const own: readonly string[] = route.spec.hostnames;
  return covering.find(hostname => own.includes(hostname)) ?? '*';
}

function rulesOf(routes: Iterable<ServedHttp>): readonly ServedRule<unknown>[] {
  return [...routes].flatMap((route): readonly ServedRule<unknown>[] => route.rules);
}

/** Returns the headers that only what decides about a rule's requests may set. */
function setByRule(
  rule: ServedRule<unknown>,
  identityHeadersOf: IdentityHeadersOf,
): readonly string[] {
  return [
    ...[...rule.filters, ...(rule.policy?.filters ?? [])].flatMap(identityHeadersOf),
    ...rule.externals.flatMap(setByService),
  ];
}

function sortedRoutes(
  found: ReadonlyMap<ServedHttp, string>,
  context: RouteContext,
  memo: Memo,
): readonly JsonObject[] {
  return [...found]
    .flatMap(([served, hostname]) =>
      remembered(served, context, memo).map(({ rank, route }) => ({
        rank: { ...rank, hostname },
        route,
      })),
    )
    .sort((a, b) => compareRanks(a.rank, b.rank))
    .map(({ route }) => route);
}

function remembered(served: ServedHttp, context: RouteContext, memo: Memo): readonly RankedRoute[] {
  const { asked, labellings } = context;
  const inputs = [labellings.key];
  return memo.of(served, `routes of port ${asked.port} ${asked.scheme}`, inputs, () =>
    rankedRoutes(served, context),
  );
}
