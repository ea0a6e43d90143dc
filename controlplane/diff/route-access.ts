import { EDGE } from '#controlplane/compile/node-groups.ts';
import { toRank } from '#controlplane/compile/routes/mapping-match.ts';
import { compareRoutes } from '#controlplane/compile/routes/route-entry.ts';
import type { Resource } from '#resources/resource.ts';
import { effectOf, toAccess, widest } from './access-changes.ts';
import type { AccessWorld } from './access-world.ts';
import { BYPASS, type Decision } from './decision.ts';
import type { AccessChange } from './difference.ts';
import { addressText } from './field-changes.ts';
import { hostIndex } from './host-index.ts';
import { regionOf } from './mapping-region.ts';
import { covers, meet, type Region, samplesOf } from './region.ts';
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
  const [from, to] = [indexed(before), indexed(after)];
  let guarded: ReadonlyMap<string, Decision> | undefined;
  const guardedBy = (service: string) => {
    guarded ??= guardedServices(before);
    return guarded.get(service);
  };
  return ids.flatMap(id => {
    const [old, next] = [was.get(id), is.get(id)];
    if (old !== undefined && next !== undefined && isSameMatch(old, next)) return [];
    const sides = [old, next].filter(mapping => mapping !== undefined);
    const bypassed = widest(sides.flatMap(mapping => bypassChanges(mapping, from, to)));
    if (bypassed.length > 0 || next === undefined) return bypassed;
    return (old && moved(old, next, before, after)) ?? exposed(next, after, guardedBy) ?? [];
  });
}

/** The Mappings of one side by their hosts. */
type Indexed = Pick<Served, 'access'> & {
  serving(host: string): readonly Mapping[];
  bypassing(host: string): readonly Mapping[];
};

function indexed({ access, mappings }: Served): Indexed {
  const serving = atEdge(mappings);
  const hostOf = ({ spec }: Mapping) => regionOf(spec).host;
  return {
    access,
    serving: hostIndex(serving, hostOf),
    bypassing: hostIndex(
      serving.filter(({ spec }) => spec.bypass_auth),
      hostOf,
    ),
  };
}

/**
 * Returns how the requests of a Mapping are decided otherwise where one with `bypass_auth` serves
 * them before or after. Elsewhere rules alone decide.
 */
function bypassChanges(mapping: Mapping, before: Indexed, after: Indexed): readonly AccessChange[] {
  const own = regionOf(mapping.spec);
  const bypassing = [...before.bypassing(own.host), ...after.bypassing(own.host)];
  const open = bypassing.flatMap(({ spec }) => meet(regionOf(spec), own) ?? []);
  if (open.length === 0) return [];
  const meets = ({ spec }: Mapping) => meet(regionOf(spec), own) !== undefined;
  const was = before.serving(own.host).filter(meets);
  const is = after.serving(own.host).filter(meets);
  const partsOf = (region: Region) =>
    [before, after].flatMap(({ access }) => access.partsOf(region));
  return [...open, ...open.flatMap(partsOf)].flatMap(region =>
    samplesOf(region).flatMap(request => {
      const from = served(request, was, before.access, mapping);
      const to = served(request, is, after.access, mapping);
      return (from && to && changeOf(mapping, region, from, to)) ?? [];
    }),
  );
}

/**
 * Returns what decides about a request, by the Mapping that serves it. Those with conditions are
 * left out, except the one that is asked about.
 * @returns undefined when none serves it
 */
function served(
  request: Region,
  mappings: readonly Mapping[],
  access: AccessWorld,
  asked: Mapping,
): Decision | undefined {
  const [first] = mappings
    .filter(({ id, spec }) => covers(regionOf(spec), request) && (id === asked.id || isPlain(spec)))
    .sort(compareMappings);
  if (first === undefined) return undefined;
  return first.spec.bypass_auth
    ? { ...BYPASS, by: `bypass_auth of ${first.id}` }
    : access.decide(request.host, request.path);
}

function isPlain(spec: Mapping['spec']): boolean {
  return !spec.host_regex && !spec.prefix_regex && toRank(spec, '').conditions === 0;
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
  return from && to && changeOf(next, regionOf(next.spec), from.decision, to.decision);
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
  return changeOf(mapping, regionOf(mapping.spec), { ...from, by }, to);
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
  mapping: Mapping,
  { host, path }: Region,
  from: Decision,
  to: Decision,
): AccessChange | undefined {
  const effect = effectOf(from, to);
  if (effect === undefined) return undefined;
  const sides = { before: toAccess(from), after: toAccess(to) };
  return { effect, host, path, ...sides, routes: [mapping.id], routeCount: 1 };
}

function atEdge(mappings: readonly Mapping[]): readonly Mapping[] {
  return mappings.filter(({ spec }) => spec.node_group === EDGE && !spec.shadow);
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
