import { EDGE } from '#controlplane/compile/node-groups.ts';
import { toRank } from '#controlplane/compile/routes/mapping-match.ts';
import { compareRoutes } from '#controlplane/compile/routes/route-entry.ts';
import type { Resource } from '#resources/resource.ts';
import { effectOf, toAccess } from './access-changes.ts';
import type { AccessWorld } from './access-world.ts';
import { BYPASS, type Decision } from './decision.ts';
import type { AccessChange } from './difference.ts';
import { addressText } from './field-changes.ts';
import { regionOf } from './mapping-region.ts';
import { covers, samplesOf } from './region.ts';
import { decisionsOf, type PartDecision } from './route-facts.ts';

type Mapping = Resource<'Mapping'>;

/** One side of a change. */
export type Served = { readonly access: AccessWorld; readonly mappings: readonly Mapping[] };

/**
 * Returns how other Filters decide because Mappings change and not because rules do: a Mapping has
 * `bypass_auth`, goes to other hosts or paths, or makes way for one that has it. `ids` are those of
 * the Mappings that change.
 */
export function routeAccessChanges(
  ids: readonly string[],
  before: Served,
  after: Served,
): readonly AccessChange[] {
  const [was, is] = [byId(before), byId(after)];
  let guarded: ReadonlyMap<string, Decision> | undefined;
  const guardedBy = (service: string) => {
    guarded ??= guardedServices(before);
    return guarded.get(service);
  };
  return ids.flatMap(id => {
    const [old, next] = [was.get(id), is.get(id)];
    if (old !== undefined && next !== undefined && isSameMatch(old, next)) return [];
    const change = moved(old, next, before, after) ?? (next && exposed(next, after, guardedBy));
    return change === undefined ? [] : [change];
  });
}

function moved(
  old: Mapping | undefined,
  next: Mapping | undefined,
  before: Served,
  after: Served,
): AccessChange | undefined {
  const shown = next ?? old;
  if (shown === undefined || shown.spec.node_group !== EDGE) return undefined;
  const from = old === undefined ? around(shown, before) : weakest(decisionsOf(old, before.access));
  const to = next === undefined ? around(shown, after) : weakest(decisionsOf(next, after.access));
  return from && to && changeOf(shown, from.decision, to.decision);
}

/**
 * Returns what decides about the requests of a Mapping on a side without it, which other Mappings
 * serve. They are equal to its own unless one of them has `bypass_auth`.
 * @returns undefined when none serves them
 */
function around(mapping: Mapping, { access, mappings }: Served): PartDecision | undefined {
  const others = mappings.filter(({ spec }) => spec.node_group === EDGE);
  if (!mapping.spec.bypass_auth && !others.some(({ spec }) => spec.bypass_auth)) return undefined;
  const found = samplesOf(regionOf(mapping.spec)).flatMap(({ host, path }) => {
    const [first] = others
      .filter(({ spec }) => covers(regionOf(spec), { host, path }))
      .sort(compareMappings);
    if (first === undefined) return [];
    const decision = first.spec.bypass_auth
      ? { ...BYPASS, by: `bypass_auth of ${first.id}` }
      : access.decide(host, path);
    return [{ path, decision }];
  });
  return weakest(found);
}

/** Returns a Mapping to a service that only requests with a Filter could reach before. */
function exposed(
  mapping: Mapping,
  { access }: Served,
  guardedBy: (service: string) => Decision | undefined,
): AccessChange | undefined {
  const to = weakest(decisionsOf(mapping, access))?.decision;
  if (to?.decision !== 'open') return undefined;
  const from = guardedBy(serviceOf(mapping));
  if (from === undefined) return undefined;
  const by = `every route to ${serviceOf(mapping)}`;
  return changeOf(mapping, { ...from, by }, to);
}

/** Returns the weakest decision about each service, where a Filter decides on every way to it. */
function guardedServices({ access, mappings }: Served): ReadonlyMap<string, Decision> {
  const own = mappings.filter(({ spec }) => spec.node_group === EDGE && !spec.host_redirect);
  const guarded = new Map<string, Decision>();
  for (const [service, all] of Map.groupBy(own, serviceOf)) {
    const decision = weakest(all.flatMap(each => decisionsOf(each, access)))?.decision;
    if (decision !== undefined && decision.sure.size > 0) guarded.set(service, decision);
  }
  return guarded;
}

function changeOf(mapping: Mapping, from: Decision, to: Decision): AccessChange | undefined {
  const effect = effectOf(from, to);
  if (effect === undefined) return undefined;
  const sides = { before: toAccess(from), after: toAccess(to) };
  return { effect, ...regionOf(mapping.spec), ...sides, routes: [mapping.id], routeCount: 1 };
}

/** The one that most requests pass. */
function weakest(parts: readonly PartDecision[]): PartDecision | undefined {
  return [...parts].sort((a, b) => strength(a) - strength(b))[0];
}

function strength({ decision: { decision, filters, sure } }: PartDecision): number {
  return decision === 'closed' ? Number.POSITIVE_INFINITY : sure.size * 1_000 + filters.length;
}

function compareMappings(a: Mapping, b: Mapping): number {
  return compareRoutes(entryOf(a), entryOf(b));
}

function entryOf({ id, spec }: Mapping) {
  return { rank: toRank(spec, id), route: {}, origins: [] };
}

function isSameMatch({ spec: a }: Mapping, { spec: b }: Mapping): boolean {
  const [one, other] = [regionOf(a), regionOf(b)];
  return (
    one.host === other.host &&
    one.path === other.path &&
    a.bypass_auth === b.bypass_auth &&
    a.node_group === b.node_group &&
    addressText(a.service) === addressText(b.service)
  );
}

function serviceOf({ spec, namespace }: Mapping): string {
  const text = addressText(spec.service);
  return spec.service.host.includes('.') ? text : `${text} of namespace ${namespace}`;
}

function byId({ mappings }: Served): ReadonlyMap<string, Mapping> {
  return new Map(mappings.map(mapping => [mapping.id, mapping]));
}
