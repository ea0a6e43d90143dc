import { EDGE } from '#controlplane/compile/node-groups.ts';
import { matchKey } from '#controlplane/compile/routes/mapping-match.ts';
import { effectOf, toAccess, widest } from './access-changes.ts';
import type { Decision } from './decision.ts';
import type { AccessChange } from './difference.ts';
import { addressText } from './field-changes.ts';
import { regionOf } from './mapping-region.ts';
import { meet, type Region } from './region.ts';
import { decisionsOf, type PartDecision } from './route-facts.ts';
import { decisionAt, type Mapping, type Served } from './served.ts';
import { toldOf, tryRequests } from './tried-requests.ts';

/**
 * Returns how other Filters decide because Mappings change and not because rules do: a Mapping has
 * `bypass_auth` or is closed, matches other requests, or makes way for another. `ids` are those of
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
    const sides = [old, next].filter(mapping => mapping !== undefined);
    const decided = decidedChanges(id, sides.filter(isAtEdge), before, after);
    if (decided.length > 0 || next === undefined) return decided;
    return (old && moved(old, next, before, after)) ?? exposed(next, after, guardedBy) ?? [];
  });
}

/**
 * Returns how the requests of a Mapping are decided otherwise where one that decides by itself
 * serves them before or after. Elsewhere rules alone decide.
 */
function decidedChanges(
  id: string,
  sides: readonly Mapping[],
  before: Served,
  after: Served,
): readonly AccessChange[] {
  const common = sides.flatMap(({ spec }) => {
    const own = regionOf(spec);
    const deciding = [...before.indexed.deciding(own), ...after.indexed.deciding(own)];
    return deciding.flatMap(other => meet(regionOf(other.spec), own) ?? []);
  });
  const parts = common.flatMap(region =>
    [before, after].flatMap(({ access }) => access.partsOf(region)),
  );
  const tried = tryRequests(sides, [...common, ...parts], before.indexed, after.indexed);
  return widest(
    toldOf(tried, request => {
      if (request.before === undefined || request.after === undefined) return undefined;
      const from = decisionAt(request.before, request, before.access);
      const to = decisionAt(request.after, request, after.access);
      return changeOf(id, request.region, from, to);
    }),
  );
}

/** Returns how a Mapping that goes to other hosts or paths is decided about otherwise there. */
function moved(
  old: Mapping,
  next: Mapping,
  before: Served,
  after: Served,
): AccessChange | undefined {
  const from = weakest(decisionsOf(old, before.access));
  const to = weakest(decisionsOf(next, after.access));
  return from && to && changeOf(next.id, regionOf(next.spec), from.decision, to.decision);
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
  return changeOf(mapping.id, regionOf(mapping.spec), { ...from, by }, to);
}

/** Returns the weakest decision about each service, where a Filter decides on every way to it. */
function guardedServices({ access, mappings }: Served): ReadonlyMap<string, Decision> {
  const own = atEdge(mappings).filter(({ spec }) => !spec.host_redirect);
  const guarded = new Map<string, Decision>();
  for (const [service, all] of Map.groupBy(own, serviceOf)) {
    const decision = weakest(all.flatMap(each => decisionsOf(each, access)))?.decision;
    if (decision !== undefined && decision.sure.size > 0) guarded.set(service, decision);
  }
  return guarded;
}

function changeOf(
  id: string,
  { host, path }: Region,
  from: Decision,
  to: Decision,
): AccessChange | undefined {
  const effect = effectOf(from, to);
  if (effect === undefined) return undefined;
  const sides = { before: toAccess(from), after: toAccess(to) };
  return { effect, host, path, ...sides, routes: [id], routeCount: 1 };
}

function atEdge(mappings: readonly Mapping[]): readonly Mapping[] {
  return mappings.filter(mapping => isAtEdge(mapping) && !mapping.spec.shadow);
}

function isAtEdge({ spec }: Mapping): boolean {
  return spec.node_group === EDGE;
}

/** The one that most requests pass. */
function weakest(parts: readonly PartDecision[]): PartDecision | undefined {
  return [...parts].sort((a, b) => strength(a) - strength(b))[0];
}

function strength({ decision: { decision, filters, sure } }: PartDecision): number {
  return decision === 'closed' ? Number.POSITIVE_INFINITY : sure.size * 1_000 + filters.length;
}

function isSameMatch({ spec: a }: Mapping, { spec: b }: Mapping): boolean {
  return (
    matchKey(a) === matchKey(b) &&
    a.bypass_auth === b.bypass_auth &&
    a.closed === b.closed &&
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
