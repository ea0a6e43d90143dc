import type {
  ListenerFilters,
  ServedListener,
  ServedRule,
} from '#controlplane/gateway-api/served-gateway.ts';
import type { JsonObject } from '#protos/json.ts';
import type { Resource } from '#resources/resource.ts';
import { compareText } from '#resources/words/order.ts';
import { coveringDomains } from '../domain-cover.ts';
import { GATEWAY_ROUTE, routeRuleOfFilters } from '../ext-authz/ext-authz-filter.ts';
import type { Memo } from '../memo.ts';
import { closed } from '../routes/closed-route.ts';
import { misdirectedAnswer } from '../routes/host-guard.ts';
import type { HostParts } from '../routes/virtual-hosts.ts';
import { listenerRuleName } from './route-filters.ts';
import {
  type RankedRoute,
  type RouteContext,
  rankedRoutes,
  type ServedHttp,
} from './rule-routes.ts';
import { compareRanks } from './served-rank.ts';

/**
 * Returns what the virtual host of a domain has beside routes. These Filters may run on it, beside
 * those of FilterPolicies.
 */
export type PartsOf = (domain: string, attached: readonly Resource<'Filter'>[]) => HostParts;

/**
 * Returns the virtual hosts of connections that `own` listeners serve. `others` are the hostnames of
 * listeners of other connections at the same port, or of none. A request belongs to the listener
 * with the narrowest hostname, and sees the routes of no other. When that is one of `others`, the
 * client used a connection that is not for this host (RFC 9110, section 15.5.20). Without TLS no
 * other connection is, so nothing is found.
 */
export function listenerHosts(
  own: readonly ServedListener[],
  others: readonly string[],
  context: RouteContext,
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
    const named = { name: domain, domains: [domain] };
    if (byHost === undefined) return [{ ...named, routes: elsewhere }];
    const served = servedFor(covering, byHost);
    const filters = filtersAt.get(hostname ?? '');
    const attached = [...(filters?.filters ?? []), ...filtersOf(served.keys())];
    const { fields, first, ...of } = parts(domain, attached);
    const routes = of.served(sortedRoutes(served, context, memo));
    const rest = filters === undefined ? [] : [unmatched(filters)];
    return [{ ...named, routes: [...first, ...routes, ...rest], ...fields }];
  });
}

const MISDIRECTED = misdirectedAnswer(GATEWAY_ROUTE, { prefix: '/' });

/** The Filters of the listener decide first. Envoy asks them of no request without a route. */
function unmatched(filters: ListenerFilters): JsonObject {
  const match = { prefix: '/' };
  const name = filters.listener;
  if (filters.broken !== undefined) return closed(name, match);
  const rule = routeRuleOfFilters(listenerRuleName(filters));
  return { name, match, direct_response: { status: 404 }, ...rule };
}

type ByHost = ReadonlyMap<string, readonly ServedHttp[]>;

function routesByHost({ routes }: ServedListener): ByHost {
  const found = new Map<string, ServedHttp[]>();
  for (const route of routes) {
    if (route.kind !== 'HTTPRoute' && route.kind !== 'GRPCRoute') continue;
    for (const hostname of route.hostnames) {
      const list = found.get(hostname);
      if (list === undefined) found.set(hostname, [route]);
      else list.push(route);
    }
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

function filtersOf(routes: Iterable<ServedHttp>): readonly Resource<'Filter'>[] {
  return [...routes].flatMap(({ rules }) => {
    const all: readonly ServedRule<unknown>[] = rules;
    return all.flatMap(({ filters, policy }) => [...filters, ...(policy?.filters ?? [])]);
  });
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
  const { asked, figures, labellings } = context;
  const inputs = [figures, labellings.key];
  return memo.of(served, `routes of port ${asked.port} ${asked.scheme}`, inputs, () =>
    rankedRoutes(served, context),
  );
}
