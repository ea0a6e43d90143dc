import { coveringDomains } from '#controlplane/compile/domain-cover.ts';
import { placedStages } from '#controlplane/compile/gateways/listener-stages.ts';
import { routePolicies } from '#controlplane/compile/gateways/route-policies.ts';
import {
  EXTERNALS_HEADER,
  externalsIn,
  externalsMark,
  ruleExternals,
} from '#controlplane/compile/gateways/rule-externals.ts';
import { PASSED_HEADER } from '#controlplane/compile/passed-header.ts';
import { isStatusOfClosed } from '#controlplane/compile/routes/closed-route.ts';
import { routeRuleIn, stagesBefore } from '#controlplane/explain/asked-rules.ts';
import type { EnvoyRequest } from '#controlplane/explain/envoy-request.ts';
import { unmetConditions } from '#controlplane/explain/route-conditions.ts';
import type { Route, VirtualHost } from '#controlplane/explain/route-configuration.ts';
import type { GatewayApi, ServedRule } from '#controlplane/gateway-api/served-gateway.ts';
import { isJsonObject, type JsonObject, objectsIn } from '#protos/json.ts';
import { ROUTE_CONFIGURATION } from '#protos/type-url.ts';
import { CLOSED, type Decision } from './decision.ts';
import type { ByGroup } from './envoy-changes.ts';
import { globOf } from './gateway-match.ts';
import type { Region } from './region.ts';
import type { RouteWorld } from './route-facts.ts';

/** What Gateways serve, on one side of a change. */
export type GatewayWorld = RouteWorld & {
  readonly api: GatewayApi;
  readonly compiled: ByGroup;
};

/** A table of routes of listeners: its virtual hosts by domain. */
export type Table = ReadonlyMap<string, VirtualHost>;

/** What serves a request of a Gateway, and what decides about it. */
export type ServedRequest = {
  readonly route: Route;
  readonly decision: Decision;
};

/** Returns the tables of routes of Gateways, by name. Those of Mappings have the group's name. */
export function gatewayTables(compiled: ByGroup): ReadonlyMap<string, Table> {
  return new Map(
    [...compiled].flatMap(([group, { resources }]) =>
      (resources.get(ROUTE_CONFIGURATION) ?? [])
        .filter(({ name }) => name !== group)
        .map(({ name, json }) => [name, tableOf(json)] as const),
    ),
  );
}

/** Where a route of Gateways has requests. */
export type RouteRegion = { readonly id: string; readonly region: Region };

/** Returns where the routes of Gateways have requests, each part of one by itself. */
export function routeRegions(compiled: ByGroup): readonly RouteRegion[] {
  return [...gatewayTables(compiled).values()].flatMap(table =>
    [...table].flatMap(([host, { routes }]) =>
      routes
        .filter(({ name }) => name.includes('/'))
        .map(({ name, match }) => ({ id: name, region: { host, path: globOf(match) } })),
    ),
  );
}

function tableOf({ virtual_hosts }: JsonObject): Table {
  // The compiler writes it, and a test compares every field with real requests.
  const hosts = (virtual_hosts ?? []) as unknown as readonly VirtualHost[];
  return new Map(hosts.flatMap(host => host.domains.map(domain => [domain, host] as const)));
}

/** A Filter, and what is asked of it. `isSure` says that every request must pass it. */
type NamedFilter = { readonly name: string; readonly text: string; readonly isSure: boolean };

/** Says what decides about requests of a route, and what serves them. */
export type RequestServer = {
  /** Returns the Filters that a route and the policy of its target name, in their order. */
  filtersOf(route: Route): readonly NamedFilter[];
  decide(route: Route, at: Region): Decision;
  /** @returns undefined when no route of a resource matches */
  serve(table: Table, request: EnvoyRequest, at: Region): ServedRequest | undefined;
};

/** Finds by the routes that Envoy has. */
export function requestServer({ access, api }: GatewayWorld): RequestServer {
  const policies = new Map(
    routePolicies(api.gateways).map(({ name, json }) => [name, filtersOf(json)]),
  );
  const asked = new Map([...policies, ...externalStages(api)]);
  const filtersOfRoute = (route: Route) =>
    [...stagesBefore(route), routeRuleIn(route) ?? '', ...externalsIn(route)].flatMap(
      name => asked.get(name) ?? [],
    );
  const decide = (route: Route, { host, path }: Region): Decision => {
    if (isStatusOfClosed(route.direct_response?.status)) return { ...CLOSED, by: route.name };
    const rules = access.decide(host, path);
    const own = filtersOfRoute(route);
    if (own.length === 0 || rules.decision === 'closed') return rules;
    const by = [route.name, ...(rules.by === undefined ? [] : [rules.by])].join(' and ');
    const filters = [...own.map(({ text }) => text), ...rules.filters];
    const sure = own.flatMap(({ isSure, name }) => (isSure ? [name] : []));
    return { decision: 'filters', filters, sure: new Set([...sure, ...rules.sure]), by };
  };
  return {
    decide,
    filtersOf: filtersOfRoute,
    serve: (table, asked, at) => {
      const domain = coveringDomains(at.host).find(each => table.has(each));
      const { routes = [] } = table.get(domain ?? '') ?? {};
      const headers = new Map([
        ...asked.headers,
        [PASSED_HEADER, ['yes']],
        [EXTERNALS_HEADER, [externalsMark(routes.flatMap(externalsIn))]],
      ]);
      const request = { ...asked, headers };
      const route = routes.find(({ match }) => unmetConditions(match, request).length === 0);
      return route?.name.includes('/') ? { route, decision: decide(route, at) } : undefined;
    },
  };
}

/** A policy of a target lets no request pass that one of its Filters denies. */
function filtersOf({ rules }: JsonObject): readonly NamedFilter[] {
  return objectsIn(rules).flatMap(({ filters }) =>
    objectsIn(filters).map(({ arguments: given, if_request_header, name, namespace }) => {
      const full = `${namespace}/${name}`;
      const scope =
        isJsonObject(given) && isJsonObject(given.scope) ? given.scope.values : undefined;
      const demands = [
        ...(if_request_header === undefined ? [] : ['for requests with a header']),
        ...(scope === undefined ? [] : [`scope ${JSON.stringify(scope)}`]),
      ];
      return {
        name: full,
        text: [full, ...demands].join(' '),
        isSure: if_request_header === undefined,
      };
    }),
  );
}

/** Returns the services that listeners and rules ask, by the names of their stages and filters. */
function externalStages({
  gateways,
}: GatewayApi): readonly (readonly [name: string, filters: readonly NamedFilter[]])[] {
  const listeners = gateways.flatMap(gateway => gateway.listeners);
  const before = listeners
    .flatMap(({ filters }) => placedStages(filters))
    .map(({ rule, stage }) => ({ name: rule, stage }));
  const rules = listeners
    .flatMap(({ routes }) => routes)
    .flatMap((served): readonly ServedRule<unknown>[] => served.rules);
  return [...before, ...rules.flatMap(ruleExternals)].flatMap(({ name: stageName, stage }) => {
    if (!('external' in stage)) return [];
    const { name, namespace, port } = stage.target;
    const service = `ExternalAuth by ${namespace}/${name}:${port}`;
    return [[stageName, [{ name: service, text: service, isSure: true }]] as const];
  });
}

/** Returns where requests of a route go. */
export function targetText({ direct_response, redirect, route }: Route): string {
  if (redirect !== undefined) return 'a redirect';
  const { cluster, weighted_clusters: split } = route ?? {};
  if (split === undefined)
    return cluster === undefined ? answerText(direct_response) : nameOf(cluster);
  const sum = split.clusters.reduce((total, { weight }) => total + weight, 0);
  return split.clusters
    .map(({ name, weight }) => `${nameOf(name)} ${Math.round((100 * weight) / sum)} %`)
    .join(', ');
}

function answerText(response: Route['direct_response']): string {
  return response === undefined ? 'nothing' : `the answer ${response.status}`;
}

/** `default/web:80` for `Service/default/web:80~grpc`. */
function nameOf(cluster: string): string {
  return cluster.replace(/^Service\//, '').replace(/~.*$/, '');
}
