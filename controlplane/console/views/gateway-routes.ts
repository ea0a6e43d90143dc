import {
  backendService,
  discoveredBackend,
} from '#controlplane/compile/gateways/backend-cluster.ts';
import { backendClusterNames } from '#controlplane/compile/gateways/backend-cluster-name.ts';
import { grpcMatch, httpMatch } from '#controlplane/compile/gateways/route-matches.ts';
import { targetsOf } from '#controlplane/compile/gateways/rule-routes.ts';
import { EDGE } from '#controlplane/compile/node-groups.ts';
import { statName } from '#controlplane/compile/stat-name.ts';
import { type AnyRoute, allRoutes } from '#controlplane/gateway-api/route-rules.ts';
import type {
  GatewayApi,
  ServedGateway,
  ServedListener,
  ServedRoute,
  ServedRule,
} from '#controlplane/gateway-api/served-gateway.ts';
import { isJsonObject, type JsonObject, objectsIn } from '#protos/json.ts';
import type { GrpcRouteMatch } from '#resources/kinds/grpc-route/grpc-route-spec.ts';
import type { HttpRouteMatch } from '#resources/kinds/http-route/http-route-spec.ts';
import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import type { Coverage, FindCoverage, RoutePath } from './coverage.ts';
import { areSure } from './reached-rules.ts';
import type { RouteListener, UnstatedRow } from './route-row.ts';

/** A rule of a route of Gateways, as its page shows it. */
export type RuleView = {
  /** Empty for connections. */
  readonly paths: readonly RoutePath[];
  /** The Filters that the policy of its target names, and then its own, in their order. */
  readonly filters: readonly string[];
  /** Whether one of them decides about each request. */
  readonly isSure: boolean;
  /** Why its requests are answered 500. */
  readonly broken?: string;
  readonly redirects: boolean;
  readonly backends: readonly BackendView[];
};

/** Its share is in percent. Without a service its share is answered 500. */
export type BackendView = { readonly service?: string; readonly share: number };

/** A listener that serves a route, and the hosts for which it does. */
export type AttachedView = RouteListener & {
  /** The id of its Gateway. */
  readonly gateway: string;
  readonly hosts: readonly string[];
};

/** A route where one listener serves it. */
type Attached = {
  readonly gateway: ServedGateway;
  readonly listener: ServedListener;
  readonly served: ServedRoute;
};

/** Returns the routes of Gateways, also those that no listener serves. */
export function gatewayRouteRows(
  api: GatewayApi,
  resources: ResourceSet,
  coverage: FindCoverage,
): readonly (UnstatedRow & Coverage)[] {
  const attached = Map.groupBy(attachedRoutes(api), ({ served }) => served.route.id);
  return allRoutes(resources).map(route =>
    toRow(route, attached.get(route.id) ?? [], resources, coverage),
  );
}

function attachedRoutes({ gateways }: GatewayApi): readonly Attached[] {
  return gateways.flatMap(gateway =>
    gateway.listeners.flatMap(listener =>
      listener.routes.map(served => ({ gateway, listener, served })),
    ),
  );
}

function toRow(
  route: AnyRoute,
  attached: readonly Attached[],
  resources: ResourceSet,
  coverage: FindCoverage,
): UnstatedRow & Coverage {
  const { id, source } = route;
  const hosts = [...new Set(attached.flatMap(({ served }) => served.hostnames))].sort();
  const [first] = attached;
  const rules = first === undefined ? [] : ruleViews(first.served, resources);
  const services = rules.flatMap(({ backends }) => backends.flatMap(each => each.service ?? []));
  const parts = rules.flatMap(({ filters, isSure, paths }) =>
    hosts.flatMap(host => paths.map(path => ({ host, path, filters, isSure }))),
  );
  const isHttp = route.kind === 'HTTPRoute' || route.kind === 'GRPCRoute';
  return {
    id,
    hosts: attached.length === 0 ? writtenHosts(route) : hosts,
    paths: rules.flatMap(({ paths }) => paths),
    services: [...new Set(services)],
    nodeGroup: first?.gateway.group ?? EDGE,
    listeners: attached.map(({ listener: { id, port, protocol } }) => ({ id, port, protocol })),
    ...(rules.length > 0 && rules.every(({ redirects }) => redirects)
      ? { instead: 'redirect' as const }
      : {}),
    ...(isHttp ? coverage.ofParts(parts) : { covered: 'bytes' as const, filters: [] }),
    ...source,
  };
}

function writtenHosts({ spec }: AnyRoute): readonly string[] {
  return 'hostnames' in spec && spec.hostnames.length > 0 ? spec.hostnames : ['*'];
}

/** Returns the rules of a route, and the listeners that serve it. */
export function servedRoute(
  id: string,
  api: GatewayApi,
  resources: ResourceSet,
): { readonly served: readonly RuleView[]; readonly attached: readonly AttachedView[] } {
  const own = attachedRoutes(api).filter(({ served }) => served.route.id === id);
  const [first] = own;
  return {
    served: first === undefined ? [] : ruleViews(first.served, resources),
    attached: own.map(({ gateway, listener: { id, port, protocol }, served }) => ({
      ...{ id, port, protocol, gateway: gateway.gateway.id, hosts: served.hostnames },
    })),
  };
}

/** Returns the RateLimits that have a rule of a route as their target. */
export function targetedLimits(id: string, api: GatewayApi): readonly Resource<'RateLimit'>[] {
  const own = attachedRoutes(api).filter(({ served }) => served.route.id === id);
  const rules = own.flatMap(({ served }): readonly ServedRule<unknown>[] => served.rules);
  return [...new Set(rules.flatMap(({ limits }) => limits))];
}

/** Returns what routes send requests to, by the names of its clusters in statistics. */
export function countedBackends(
  api: GatewayApi,
  resources: ResourceSet,
): ReadonlyMap<string, string> {
  const targets = attachedRoutes(api).flatMap(({ served }) => targetsOf(served));
  return new Map(
    targets.flatMap(target => {
      const service = backendService(target, resources);
      return backendClusterNames(target).map(name => [statName(name), service] as const);
    }),
  );
}

/** Returns the discovery service's names of what these routes send requests to. */
export function discoveredBackends(
  ids: ReadonlySet<string>,
  api: GatewayApi,
  resources: ResourceSet,
): readonly string[] {
  const own = attachedRoutes(api).filter(({ served }) => ids.has(served.route.id));
  const targets = own.flatMap(({ served }) => targetsOf(served));
  return targets.flatMap(target => discoveredBackend(target, resources) ?? []);
}

function ruleViews(served: ServedRoute, resources: ResourceSet): readonly RuleView[] {
  const rules: readonly ServedRule<unknown>[] = served.rules;
  return rules.map(rule => ({
    paths: pathsOf(served.kind, rule.rule),
    filters: [...(rule.policy?.filters ?? []), ...rule.filters].map(
      ({ namespace, name }) => `${namespace}/${name}`,
    ),
    isSure: rule.filters.length > 0 || areSure(rule.policy?.policy.spec.filters ?? []),
    ...(rule.broken === undefined ? {} : { broken: rule.broken }),
    redirects: redirects(rule.rule),
    backends: backendsOf(rule, resources),
  }));
}

function pathsOf(kind: ServedRoute['kind'], rule: unknown): readonly RoutePath[] {
  if (kind !== 'HTTPRoute' && kind !== 'GRPCRoute') return [];
  const { matches } = rule as { readonly matches: readonly unknown[] };
  if (kind === 'HTTPRoute')
    return (matches as readonly HttpRouteMatch[]).map(each => pathOf(httpMatch(each).match));
  const written = matches as readonly GrpcRouteMatch[];
  return (written.length === 0 ? [{ headers: [] }] : written).map(each =>
    pathOf(grpcMatch(each).match),
  );
}

/** Returns what Envoy's `RouteMatch` asks for. */
function pathOf(match: JsonObject): RoutePath {
  const headers = objectsIn(match.headers);
  const method = headers.find(({ name }) => name === ':method')?.string_match;
  const conditions = [
    ...headers.filter(({ name }) => name !== ':method').map(({ name }) => `header ${name}`),
    ...objectsIn(match.query_parameters).map(({ name }) => `parameter ${name}`),
  ];
  return {
    ...pathAndType(match),
    ...(isJsonObject(method) ? { method: String(method.exact) } : {}),
    ...(conditions.length === 0 ? {} : { conditions }),
  };
}

function pathAndType(match: JsonObject): Pick<RoutePath, 'path' | 'type'> {
  const { path, path_separated_prefix: segments, prefix, safe_regex: regex } = match;
  if (typeof path === 'string') return { path, type: 'exact' };
  if (typeof segments === 'string') return { path: segments, type: 'segments' };
  if (typeof prefix === 'string') return { path: prefix, type: 'prefix' };
  return { path: isJsonObject(regex) ? String(regex.regex) : '', type: 'regex' };
}

function redirects(rule: unknown): boolean {
  const { filters = [] } = rule as { readonly filters?: readonly { readonly type: string }[] };
  return filters.some(({ type }) => type === 'RequestRedirect');
}

function backendsOf(
  { backends }: ServedRule<unknown>,
  resources: ResourceSet,
): readonly BackendView[] {
  const sum = backends.reduce((total, { weight }) => total + weight, 0);
  return backends.map(({ target, weight }) => ({
    ...(target === undefined ? {} : { service: backendService(target, resources) }),
    share: sum === 0 ? 0 : (100 * weight) / sum,
  }));
}
