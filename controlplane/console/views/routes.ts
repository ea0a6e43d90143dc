import { keyedMappings } from '#controlplane/compile/mapping-keys.ts';
import type { Memo } from '#controlplane/compile/memo.ts';
import { splitTraffic } from '#controlplane/compile/routes/traffic-split.ts';
import type { ResourceState } from '#controlplane/status/resource-state.ts';
import type { ResourceStatus } from '#controlplane/status/status.ts';
import type { Problem } from '#resources/problem.ts';
import type { Resource, Source } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { type Coverage, coverageOf } from './coverage.ts';
import { problemId } from './problems.ts';

/** A Mapping as the list of routes shows it. */
export type RouteRow = Coverage & {
  readonly id: string;
  readonly host: string;
  readonly path: string;
  readonly matches: 'prefix' | 'exact' | 'regex';
  readonly method?: string;
  readonly service: string;
  readonly nodeGroup: string;
  /** Percent of the requests, where Mappings share a route. */
  readonly share?: number;
  /** What it does instead of forwarding. */
  readonly instead?: 'redirect' | 'shadow';
  readonly state: ResourceState;
  readonly errors: number;
  readonly warnings: number;
  readonly file: string;
  readonly line: number;
};

export type RouteFacts = {
  readonly resources: ResourceSet;
  readonly states: readonly ResourceStatus[];
  readonly problems: readonly Problem[];
  readonly memo: Memo;
};

type Mapping = Resource<'Mapping'>;

/** Returns all routes in the order of host and path. */
export function routeRows({ resources, states, problems, memo }: RouteFacts): readonly RouteRow[] {
  const written = new Map(states.map(each => [each.id, each]));
  const problemsOf = Map.groupBy(problems, problemId);
  const coverage = coverageOf(resources);
  const shares = sharesOf(resources.mappings, memo);
  return resources.mappings
    .map(mapping => {
      const own = problemsOf.get(mapping.id) ?? [];
      const errors = own.filter(({ severity }) => severity === 'error').length;
      const share = shares.get(mapping.id);
      return {
        ...routeRow(mapping, written.get(mapping.id) ?? mapping.source),
        ...(share === undefined ? {} : { share }),
        ...coverage(mapping.spec),
        state: written.get(mapping.id)?.state ?? 'in force',
        errors,
        warnings: own.length - errors,
      };
    })
    .sort((a, b) => compare(a.host, b.host) || compare(a.path, b.path) || compare(a.id, b.id));
}

/** An accepted version may stand elsewhere than what is written now. */
function routeRow({ id, spec }: Mapping, { file, line }: Source) {
  const { host, host_regex, host_redirect, method, node_group, prefix, shadow } = spec;
  const matches: RouteRow['matches'] = spec.prefix_regex
    ? 'regex'
    : spec.prefix_exact
      ? 'exact'
      : 'prefix';
  return {
    id,
    host: host_regex ? `~ ${host}` : host,
    path: prefix,
    matches,
    ...(method === undefined ? {} : { method }),
    service: serviceText(spec),
    nodeGroup: node_group,
    ...(host_redirect ? { instead: 'redirect' as const } : {}),
    ...(shadow ? { instead: 'shadow' as const } : {}),
    ...{ file, line },
  };
}

/** Formats `https://name:port`, without the scheme http and without a port that was not written. */
export function serviceText({ service }: Pick<Mapping['spec'], 'service'>): string {
  const { host, port, portGiven, scheme } = service;
  const name = host.includes(':') ? `[${host}]` : host;
  return `${scheme === 'https' ? 'https://' : ''}${name}${portGiven ? `:${port}` : ''}`;
}

/** Returns the percentages of Mappings that match the same requests as others. */
function sharesOf(mappings: readonly Mapping[], memo: Memo): ReadonlyMap<string, number> {
  const forwarding = mappings.filter(({ spec }) => !spec.shadow && !spec.host_redirect);
  const groups = Map.groupBy(
    keyedMappings(forwarding, memo),
    ({ mapping, keys }) => `${mapping.spec.node_group} ${keys.match}`,
  );
  const shared = [...groups.values()].filter(({ length }) => length > 1);
  return new Map(
    shared.flatMap(group => {
      const { weights } = splitTraffic(group.map(({ mapping }) => mapping.spec.weight));
      const sum = weights.reduce((total, weight) => total + weight, 0);
      return group.map(
        ({ mapping }, index) => [mapping.id, (100 * (weights[index] ?? 0)) / sum] as const,
      );
    }),
  );
}

/** Returns the text that a search looks through. */
export function routeText(row: RouteRow): string {
  const { covered, errors, filters, host, id, method = '', nodeGroup, path, service, state } = row;
  const words = covered === 'none' ? 'open' : covered;
  const problem = errors + row.warnings > 0 ? 'problem' : '';
  return [
    id,
    host,
    path,
    method,
    service,
    nodeGroup,
    state,
    words,
    problem,
    row.file,
    ...filters,
  ].join(' ');
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
