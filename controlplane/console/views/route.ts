import { stringify } from 'yaml';
import { compile } from '#controlplane/compile/compile.ts';
import { orderedRules, ruleText } from '#controlplane/compile/ext-authz/rule-order.ts';
import { keyedMappings } from '#controlplane/compile/mapping-keys.ts';
import type { Memo } from '#controlplane/compile/memo.ts';
import { EDGE } from '#controlplane/compile/node-groups.ts';
import type { CompileOptions } from '#controlplane/compile/options.ts';
import { groupShapes } from '#controlplane/compile/rate-limits/label-shape.ts';
import { labelTree } from '#controlplane/compile/rate-limits/label-tree.ts';
import { LabelWalk } from '#controlplane/compile/rate-limits/label-walk.ts';
import { labellings } from '#controlplane/compile/rate-limits/labelling.ts';
import type {
  MappingFigures,
  SampledRequest,
  UpstreamFigures,
} from '#controlplane/figures/figures.ts';
import { type JsonObject, objectsIn } from '#protos/json.ts';
import { CLUSTER, ROUTE_CONFIGURATION } from '#protos/type-url.ts';
import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { type ProblemRow, problemRows } from './problems.ts';
import { redacted } from './redacted.ts';
import type { RouteRow } from './routes.ts';
import type { Traffic } from './totals.ts';

type Mapping = Resource<'Mapping'>;

/** All that is known of one route, with its figures. */
export type RouteScreen = RouteView & {
  readonly traffic: Traffic;
  readonly figures?: MappingFigures;
  readonly requests: readonly SampledRequest[];
  readonly upstreams: readonly UpstreamFigures[];
};

/** All that is known of one route. */
export type RouteView = {
  readonly row: RouteRow;
  readonly problems: readonly ProblemRow[];
  /** The document as it was written. Absent when it is not kept. */
  readonly yaml?: string;
  /** Mappings that share its requests, itself too. */
  readonly sharing: readonly RouteRow[];
  /** Mappings of its host whose paths overlap with its own: wider ones, and ones within. */
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
  readonly problems: Parameters<typeof problemRows>[0];
  readonly memo: Memo;
};

/**
 * Returns what is known of a Mapping.
 * @returns undefined when there is none of this id
 */
export function routeView(id: string, basis: RouteBasis): RouteView | undefined {
  const { memo, problems, resources, rows } = basis;
  const row = rows.find(each => each.id === id);
  const mapping = resources.mappings.find(each => each.id === id);
  if (row === undefined || mapping === undefined) return undefined;
  const others = rows.filter(
    each => each.id !== id && each.nodeGroup === row.nodeGroup && each.host === row.host,
  );
  const plain = others.filter(({ matches }) => matches !== 'regex' && row.matches !== 'regex');
  return {
    row,
    problems: problemRows(
      problems.filter(({ kind, namespace, name }) => `${kind}/${namespace}/${name}` === id),
    ),
    ...(mapping.document === undefined ? {} : { yaml: stringify(redacted(mapping.document)) }),
    sharing: row.share === undefined ? [] : sharing(mapping, basis),
    wider: plain
      .filter(
        ({ matches, path }) =>
          matches === 'prefix' && path.length < row.path.length && row.path.startsWith(path),
      )
      .slice(0, MOST),
    within: plain
      .filter(
        ({ path }) =>
          row.matches === 'prefix' && path.length > row.path.length && path.startsWith(row.path),
      )
      .slice(0, MOST),
    rules: rulesOf(row, resources),
    limits: limitsOf(new Set([id]), resources, memo),
  };
}

function sharing(
  { id, spec }: Mapping,
  { memo, resources, rows }: RouteBasis,
): readonly RouteRow[] {
  const keyed = keyedMappings(resources.mappings, memo);
  const key = keyed.find(({ mapping }) => mapping.id === id)?.keys.match;
  const ids = new Set(
    keyed
      .filter(
        ({ keys, mapping }) => keys.match === key && mapping.spec.node_group === spec.node_group,
      )
      .map(({ mapping }) => mapping.id),
  );
  return rows.filter(row => ids.has(row.id));
}

/** Returns the rules that may meet paths of the route, in the order in which they are tried. */
function rulesOf(
  { nodeGroup, path }: RouteRow,
  { filterPolicies }: ResourceSet,
): readonly RuleLine[] {
  if (nodeGroup !== EDGE) return [];
  const meeting = orderedRules(filterPolicies).filter(
    ({ path: glob }) => glob.prefix.startsWith(path) || path.startsWith(glob.prefix),
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

/** Returns the limits that requests of these Mappings can meet. */
export function limitsOf(
  ids: ReadonlySet<string>,
  resources: ResourceSet,
  memo: Memo,
): readonly LimitLine[] {
  const mappings = resources.mappings.filter(
    ({ id, spec }) => ids.has(id) && spec.node_group === EDGE,
  );
  return labellings(resources).domains.flatMap(labelling => {
    const shapes = groupShapes(mappings, labelling, memo);
    const walk = new LabelWalk(labelTree(shapes), new Set(), WHOLE_ADDRESSES);
    const reached = resources.rateLimits
      .filter(({ spec }) => spec.domain === labelling.domain)
      .flatMap(({ name, namespace, source, spec }) =>
        spec.limits
          .map((limit, index) => ({ limit, name: `${name}.${namespace}-${index}`, source }))
          .filter(({ limit }) => walk.reach(limit.pattern).reached),
      );
    return reached.map(({ limit: { action, name: own, rate, unit }, name, source }) => ({
      ...{ name: own ?? name, rate, unit, action },
      ...source,
    }));
  });
}

/** Returns the Envoy configuration that a Mapping became, as YAML. */
export function envoyConfiguration(
  { id, spec }: Mapping,
  resources: ResourceSet,
  options: CompileOptions,
): string {
  const compiled = compile(resources, spec.node_group, options).resources;
  const hosts = (compiled.get(ROUTE_CONFIGURATION) ?? []).flatMap(({ json }) =>
    objectsIn(json.virtual_hosts).flatMap(host => {
      const routes = objectsIn(host.routes).filter(({ name }) => name === id);
      return routes.length === 0 ? [] : [{ name: host.name, domains: host.domains, routes }];
    }),
  );
  const clusters = (compiled.get(CLUSTER) ?? [])
    .filter(({ origins }) => origins.includes(id))
    .map(({ json }): JsonObject => json);
  return stringify(redacted({ virtual_hosts: hosts, clusters }), { aliasDuplicateObjects: false });
}
