import { EDGE } from '#controlplane/compile/node-groups.ts';
import type { Resource } from '#resources/resource.ts';
import type { AccessWorld } from './access-world.ts';
import type { Decision } from './decision.ts';
import type { RouteFacts } from './difference.ts';
import { addressText } from './field-changes.ts';
import { conditionsOf, pathText, regionOf } from './mapping-region.ts';
import { samplesOf } from './region.ts';
import type { RouteLimits } from './route-limits.ts';
import { ownDecision } from './served.ts';

type Mapping = Resource<'Mapping'>;

/** What the facts of routes are taken from, on one side of a change. */
export type RouteWorld = { readonly access: AccessWorld; readonly limits: RouteLimits };

export function routeFacts(mapping: Mapping, world: RouteWorld): RouteFacts {
  const { spec } = mapping;
  return {
    group: spec.node_group,
    host: spec.host_regex ? '*' : spec.host,
    path: pathText(spec),
    conditions: conditionsOf(spec),
    to: targetOf(mapping),
    access: accessTexts(mapping, world.access),
    limits: limitNamesOf(mapping, world),
  };
}

/** Returns the names of the limits that may count requests of the Mapping. */
export function limitNamesOf(mapping: Mapping, { limits }: RouteWorld): readonly string[] {
  return limits.all.filter(limit => limits.mayCount(limit, mapping)).map(({ name }) => name);
}

/** Returns where requests of the Mapping go. */
export function targetOf({ spec }: Mapping): string {
  const to = addressText(spec.service);
  if (spec.host_redirect) return `redirect to ${to}`;
  const share = spec.weight === undefined ? '' : ` (${spec.weight} %)`;
  return `${spec.shadow ? 'copies to ' : ''}${to}${share}`;
}

/** What decides about a part of a route. */
export type PartDecision = { readonly path: string; readonly decision: Decision };

/** Returns what decides about each part of the route, as far as rules tell parts apart. */
export function decisionsOf(mapping: Mapping, access: AccessWorld): readonly PartDecision[] {
  const { spec } = mapping;
  if (spec.node_group !== EDGE) return [];
  const own = regionOf(spec);
  const decision = ownDecision(mapping);
  if (decision !== undefined) return [{ path: own.path, decision }];
  const found = new Map<string, PartDecision>();
  for (const region of [own, ...access.partsOf(own)]) {
    for (const { host, path } of samplesOf(region).toReversed()) {
      const decision = access.decide(host, path);
      const key = JSON.stringify([decision.decision, decision.filters]);
      if (!found.has(key)) found.set(key, { path: region.path, decision });
    }
  }
  return [...found.values()];
}

function accessTexts(mapping: Mapping, access: AccessWorld): readonly string[] {
  const decisions = decisionsOf(mapping, access);
  if (decisions.length <= 1) return decisions.map(({ decision }) => accessText(decision));
  return decisions.map(({ path, decision }) => `${path}: ${accessText(decision)}`);
}

/** Returns `Filter default/login`, `no Filter` or `closed (500)`. */
export function accessText({ decision, filters }: Pick<Decision, 'decision' | 'filters'>): string {
  if (decision === 'open') return 'no Filter';
  return decision === 'closed' ? 'closed (500)' : `Filter ${filters.join(', then ')}`;
}
