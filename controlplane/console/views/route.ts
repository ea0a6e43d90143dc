import { stringify } from 'yaml';
import { compile } from '#controlplane/compile/compile.ts';
import { orderedRules, ruleText } from '#controlplane/compile/ext-authz/rule-order.ts';
import { domainGlob } from '#controlplane/compile/mapping-domain.ts';
import type { Memo } from '#controlplane/compile/memo.ts';
import { EDGE } from '#controlplane/compile/node-groups.ts';
import type { CompileOptions } from '#controlplane/compile/options.ts';
import { groupShapes } from '#controlplane/compile/rate-limits/label-shape.ts';
import { labelTree } from '#controlplane/compile/rate-limits/label-tree.ts';
import { LabelWalk } from '#controlplane/compile/rate-limits/label-walk.ts';
import { labellings } from '#controlplane/compile/rate-limits/labelling.ts';
import { sharingMappings } from '#controlplane/compile/routes/mapping-shares.ts';
import { withoutValues } from '#controlplane/diff/envoy-parts.ts';
import type {
  MappingFigures,
  SampledRequest,
  UpstreamFigures,
} from '#controlplane/figures/figures.ts';
import { allRoutes } from '#controlplane/gateway-api/route-rules.ts';
import type { GatewayApi } from '#controlplane/gateway-api/served-gateway.ts';
import { type JsonObject, objectsIn } from '#protos/json.ts';
import { CLUSTER, ROUTE_CONFIGURATION } from '#protos/type-url.ts';
import { defaultLimitName } from '#resources/kinds/rate-limit/default-limit-name.ts';
import type { Limit } from '#resources/kinds/rate-limit/rate-limit-spec.ts';
import { commonText } from '#resources/match/glob-relation.ts';
import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { globsOf, type RoutePath } from './coverage.ts';
import { type AttachedView, type RuleView, servedRoute, targetedLimits } from './gateway-routes.ts';
import { type ProblemRow, problemsOf } from './problems.ts';
import { redacted } from './redacted.ts';
import type { RouteRow } from './route-row.ts';
import type { Traffic } from './totals.ts';

type Mapping = Resource<'Mapping'>;

/** All that is known of one route, with its figures. */
export type RouteScreen = RouteView & {
  readonly traffic: Traffic;
  readonly figures?: MappingFigures;
  readonly requests: readonly SampledRequest[];
  readonly upstreams: readonly UpstreamFigures[];
};

/** A route that is not in force: it is rejected, or was removed since it had requests. */
export type AbsentRoute = Pick<RouteScreen, 'problems' | 'requests'> & { readonly row?: undefined };

/** All that is known of one route. */
export type RouteView = {
  readonly row: RouteRow;
  readonly problems: readonly ProblemRow[];
  /** The document as it was written. Absent when it is not kept. */
  readonly yaml?: string;
  /** Mappings that share its requests, itself too. */
  readonly sharing: readonly RouteRow[];
  /** Rules of a route of Gateways, and the listeners that serve it. A Mapping has none. */
  readonly served: readonly RuleView[];
  readonly attached: readonly AttachedView[];
  /** What its parents say that do not accept it, or not all of it. */
  readonly parents: readonly string[];
  /** Routes of its hosts whose paths overlap with its own: wider ones, and ones within. */
  readonly wider: readonly RouteRow[];
  readonly within: readonly RouteRow[];
  /** Rules of FilterPolicies for parts of it. */
  readonly rules: readonly RuleLine[];
  readonly limits: readonly LimitLine[];
};

export type RuleLine = {
  readonly text: string;
  readonly host: string;
  readonly path: string;
  readonly filters: readonly string[];
  readonly file: string;
  readonly line: number;
};

export type LimitLine = {
  readonly name: string;
  readonly rate: number;
  readonly unit: string;
  readonly action: string;
  readonly file: string;
  readonly line: number;
};

const MOST = 20;
const WHOLE_ADDRESSES = { ipv4: 32, ipv6: 128 };

export type RouteBasis = {
  readonly rows: readonly RouteRow[];
  readonly resources: ResourceSet;
  readonly problems: Parameters<typeof problemsOf>[1];
  readonly gatewayApi: GatewayApi;
  readonly memo: Memo;
};

/**
 * Returns what is known of a Mapping, or of a route of Gateways.
 * @returns undefined when there is none of this id
 */
export function routeView(id: string, basis: RouteBasis): RouteView | undefined {
  const { gatewayApi, memo, problems, resources, rows } = basis;
  const row = rows.find(each => each.id === id);
  const mapping = resources.mappings.find(each => each.id === id);
  const route = mapping ?? allRoutes(resources).find(each => each.id === id);
  if (row === undefined || route === undefined) return undefined;
  const others = rows.filter(each => each.id !== id && meets(each, row));
  return {
    row,
    problems: problemsOf(id, problems),
    ...(route.document === undefined ? {} : { yaml: stringify(redacted(route.document)) }),
    sharing: mapping === undefined || row.share === undefined ? [] : sharing(mapping, basis),
    ...servedRoute(id, gatewayApi, resources),
    parents: troublesOfParents(id, gatewayApi),
    wider: others.filter(each => isWider(each, row)).slice(0, MOST),
    within: others.filter(each => isWider(row, each)).slice(0, MOST),
    rules: rulesOf(row, resources),
    limits: [
      ...targetedLimits(id, gatewayApi).flatMap(each => limitLines(each, () => true)),
      ...limitsOf(new Set([id]), resources, memo),
    ],
  };
}

/** Whether two routes may get requests of the same host. */
function meets(a: RouteRow, b: RouteRow): boolean {
  if (a.nodeGroup !== b.nodeGroup || !a.hosts.some(host => b.hosts.includes(host))) return false;
  return a.listeners.length + b.listeners.length === 0
    ? true
    : a.listeners.some(({ id }) => b.listeners.some(other => other.id === id));
}

/** Whether a prefix of one holds a longer path of another. */
function isWider({ paths }: RouteRow, other: RouteRow): boolean {
  return paths.some(wide =>
    other.paths.some(({ path, type }) => type !== 'regex' && holds(wide, path)),
  );
}

function holds({ path, type }: RoutePath, longer: string): boolean {
  if (longer.length <= path.length) return false;
  return (
    (type === 'prefix' && longer.startsWith(path)) ||
    (type === 'segments' && longer.startsWith(`${path}/`))
  );
}

function troublesOfParents(id: string, { statuses }: GatewayApi): readonly string[] {
  const status = statuses.get(id);
  if (status?.kind !== 'Route') return [];
  return status.parents.flatMap(({ conditions, parentRef: { name, namespace, sectionName } }) => {
    const parent = [namespace ?? [], name, sectionName ?? []].flat().join('/');
    return conditions
      .filter(({ status: is, type }) => (type === 'PartiallyInvalid') === (is === 'True'))
      .map(({ message, reason, type }) => `${parent}: ${type} ${reason}. ${message}`);
  });
}

function sharing({ id }: Mapping, { memo, resources, rows }: RouteBasis): readonly RouteRow[] {
  const group = sharingMappings(resources, memo).find(all => all.some(each => each.id === id));
  const ids = new Set(group?.map(each => each.id));
  return rows.filter(row => ids.has(row.id));
}

/** Returns the rules that may meet requests of the route, in the order in which they are tried. */
function rulesOf(
  { hosts, listeners, nodeGroup, paths }: RouteRow,
  { filterPolicies }: ResourceSet,
): readonly RuleLine[] {
  if (nodeGroup !== EDGE && listeners.length === 0) return [];
  const domains = hosts.map(host => domainGlob(host.startsWith('~') ? '*' : host));
  const globs = paths.flatMap(globsOf);
  const meeting = orderedRules(filterPolicies).filter(
    ({ host, path }) =>
      domains.some(each => commonText(host, each) !== undefined) &&
      globs.some(each => commonText(path, each) !== undefined),
  );
  return meeting.slice(0, MOST).map(rule => {
    const { namespace: own, source, spec } = rule.policy;
    const { filters, host, path } = spec.rules[Number(/\d+/.exec(rule.field)?.[0])] ?? {
      ...{ filters: [], host: '*', path: '*' },
    };
    const names = filters.map(({ name, namespace = own }) => `${namespace}/${name}`);
    return { text: ruleText(rule), host, path, filters: names, ...source };
  });
}

/** Returns the limits that requests of these routes can meet by their labels. */
export function limitsOf(
  ids: ReadonlySet<string>,
  resources: ResourceSet,
  memo: Memo,
): readonly LimitLine[] {
  const mappings = resources.mappings.filter(
    ({ id, spec }) => ids.has(id) && spec.node_group === EDGE,
  );
  return labellings(resources).domains.flatMap(labelling => {
    const shapes = groupShapes({ mappings, rateLimits: [] }, labelling, memo);
    const walk = new LabelWalk(labelTree(shapes), new Set(), WHOLE_ADDRESSES);
    return resources.rateLimits
      .filter(({ spec }) => spec.targetRefs === undefined && spec.domain === labelling.domain)
      .flatMap(rateLimit => limitLines(rateLimit, ({ pattern }) => walk.reach(pattern).reached));
  });
}

function limitLines(
  rateLimit: Resource<'RateLimit'>,
  isShown: (limit: Limit) => boolean,
): readonly LimitLine[] {
  const { source, spec } = rateLimit;
  return spec.limits.flatMap((limit, index) => {
    const { action, name = defaultLimitName(rateLimit, index), rate, unit } = limit;
    return isShown(limit) ? [{ name, rate, unit, action, ...source }] : [];
  });
}

/** Returns the Envoy configuration that a route became for the proxies of its group, as YAML. */
export function envoyConfiguration(
  { id, nodeGroup }: Pick<RouteRow, 'id' | 'nodeGroup'>,
  resources: ResourceSet,
  options: CompileOptions,
): string {
  const compiled = compile(resources, nodeGroup, options).resources;
  const hosts = (compiled.get(ROUTE_CONFIGURATION) ?? []).flatMap(({ json }) =>
    objectsIn(json.virtual_hosts).flatMap(host => {
      const routes = objectsIn(host.routes).filter(({ name }) => name === id);
      return routes.length === 0 ? [] : [{ name: host.name, domains: host.domains, routes }];
    }),
  );
  const clusters = (compiled.get(CLUSTER) ?? [])
    .filter(({ origins }) => origins.includes(id))
    .map(({ json }): JsonObject => json);
  const shown = redacted(withoutValues({ virtual_hosts: hosts, clusters }));
  return stringify(shown, { aliasDuplicateObjects: false });
}
