import type { Memo } from '#controlplane/compile/memo.ts';
import { sharingMappings } from '#controlplane/compile/routes/mapping-shares.ts';
import { splitTraffic } from '#controlplane/compile/routes/traffic-split.ts';
import type { MappingFigures, Rates } from '#controlplane/figures/figures.ts';
import type { GatewayApi } from '#controlplane/gateway-api/served-gateway.ts';
import type { ResourceStatus } from '#controlplane/status/status.ts';
import type { Problem } from '#resources/problem.ts';
import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { compareText } from '#resources/words/order.ts';
import { coverageOf, pathType } from './coverage.ts';
import { gatewayRouteRows } from './gateway-routes.ts';
import { problemId } from './problems.ts';
import type { RouteRow, UnstatedRow } from './route-row.ts';

/** With its figures of 15 minutes, where it had traffic. */
export type RouteItem = RouteRow & { readonly rates?: Rates };

/** What the list can be sorted by, beside host and path. */
export const SORTS = ['rate', 'errors', 'p99'] as const;

/** Returns the routes with the highest figures first. Any other sort is host and path. */
export function sortedRoutes(
  rows: readonly RouteRow[],
  sort: string,
  figures: ReadonlyMap<string, MappingFigures>,
): readonly RouteRow[] {
  const by = SORTS.find(each => each === sort);
  if (by === undefined) return rows;
  const value = ({ id }: RouteRow) => {
    const rates = figures.get(id)?.last15Minutes;
    if (rates === undefined) return -1;
    return by === 'rate' ? rates.rate : by === 'errors' ? rates.serverErrors : (rates.p99 ?? -1);
  };
  return rows.toSorted((a, b) => value(b) - value(a));
}

export type RouteFacts = {
  readonly resources: ResourceSet;
  readonly states: readonly ResourceStatus[];
  readonly problems: readonly Problem[];
  readonly gatewayApi: GatewayApi;
  readonly memo: Memo;
};

type Mapping = Resource<'Mapping'>;

/** Returns all routes in the order of host and path. */
export function routeRows({
  gatewayApi,
  resources,
  states,
  problems,
  memo,
}: RouteFacts): readonly RouteRow[] {
  const stateOf = new Map(states.map(({ id, state }) => [id, state]));
  const problemsOf = Map.groupBy(problems, problemId);
  const coverage = coverageOf(resources);
  const shares = sharesOf(resources, memo);
  const mappings = resources.mappings.map(mapping => {
    const share = shares.get(mapping.id);
    return {
      ...routeRow(mapping),
      ...(share === undefined ? {} : { share }),
      ...coverage.ofMapping(mapping.spec),
    };
  });
  return [...mappings, ...gatewayRouteRows(gatewayApi, resources, coverage)]
    .map(row => {
      const own = problemsOf.get(row.id) ?? [];
      const errors = own.filter(({ severity }) => severity === 'error').length;
      const state = stateOf.get(row.id) ?? 'in force';
      return { ...row, state, errors, warnings: own.length - errors };
    })
    .sort(
      (a, b) =>
        compareText(a.hosts[0] ?? '', b.hosts[0] ?? '') ||
        compareText(a.paths[0]?.path ?? '', b.paths[0]?.path ?? '') ||
        compareText(a.id, b.id),
    );
}

function routeRow({ id, source, spec }: Mapping): UnstatedRow {
  const { host, host_regex, host_redirect, method, node_group, prefix, shadow } = spec;
  return {
    id,
    hosts: [host_regex ? `~ ${host}` : host],
    paths: [{ path: prefix, type: pathType(spec), ...(method === undefined ? {} : { method }) }],
    services: [serviceText(spec)],
    nodeGroup: node_group,
    listeners: [],
    ...(host_redirect ? { instead: 'redirect' as const } : {}),
    ...(shadow ? { instead: 'shadow' as const } : {}),
    ...source,
  };
}

/** Formats `https://name:port`, without the scheme http and without a port that was not written. */
function serviceText({ service }: Pick<Mapping['spec'], 'service'>): string {
  const { host, port, portGiven, scheme } = service;
  const name = host.includes(':') ? `[${host}]` : host;
  return `${scheme === 'https' ? 'https://' : ''}${name}${portGiven ? `:${port}` : ''}`;
}

/** Returns the percentages of Mappings that match the same requests as others. */
function sharesOf(resources: ResourceSet, memo: Memo): ReadonlyMap<string, number> {
  const groups = sharingMappings(resources, memo).map(group =>
    group.filter(({ spec }) => !spec.shadow && !spec.host_redirect),
  );
  const shared = groups.filter(({ length }) => length > 1);
  return new Map(
    shared.flatMap(group => {
      const { weights } = splitTraffic(group.map(({ spec }) => spec.weight));
      const sum = weights.reduce((total, weight) => total + weight, 0);
      return group.map(({ id }, index) => [id, (100 * (weights[index] ?? 0)) / sum] as const);
    }),
  );
}

/** Returns the text that a search looks through. */
export function routeText(row: RouteRow): string {
  const { covered, errors, filters, hosts, id, listeners, nodeGroup, paths, services, state } = row;
  const words = covered === 'none' ? 'open' : covered;
  const problem = errors + row.warnings > 0 ? 'problem' : '';
  const texts = paths.map(({ method = '', path }) => `${method} ${path}`);
  const lists = [...hosts, ...texts, ...services, ...listeners.map(each => each.id), ...filters];
  return [id, nodeGroup, state, words, problem, row.file, ...lists].join(' ');
}
