import { EDGE } from '#controlplane/compile/node-groups.ts';
import { matchKey, toRank } from '#controlplane/compile/routes/mapping-match.ts';
import { widest } from './access-changes.ts';
import { untriedOf } from './conditions.ts';
import { MOST_REQUESTS, type RouteChange, type ServedBy } from './difference.ts';
import { regionOf } from './mapping-region.ts';
import { meet } from './region.ts';
import { accessText, limitNamesOf, type RouteWorld, targetOf } from './route-facts.ts';
import { decisionAt, type Indexed, type Mapping } from './served.ts';
import { type TriedRequest, toldOf, tryRequests } from './tried-requests.ts';

/** One side of a change. */
export type RequestWorld = RouteWorld & { readonly indexed: Indexed };

/**
 * Returns which requests another Mapping serves than before, where a Mapping has conditions on
 * method, headers or query on one side of its change. Of a new or removed one, only requests are
 * told that have a route on both sides.
 */
export function requestChanges(
  old: Mapping | undefined,
  next: Mapping | undefined,
  before: RequestWorld,
  after: RequestWorld,
): Pick<RouteChange, 'requests' | 'requestCount' | 'untried'> {
  const sides = [old, next].filter(mapping => mapping !== undefined);
  if (!sides.some(hasConditions) || (old && next && isSame(old, next))) return {};
  const groups = [...Map.groupBy(sides, ({ spec }) => spec.node_group).values()];
  const tried = groups.flatMap(ofGroup =>
    tryRequests(ofGroup, regionsOf(ofGroup, before, after), before.indexed, after.indexed),
  );
  const isWhole = sides.length === 2 && groups.length === 1;
  const requests = widest(
    toldOf(tried, request => {
      const isTold = isWhole || (request.before !== undefined && request.after !== undefined);
      if (!isTold || !isMoved(request)) return undefined;
      const was = request.before && servedBy(request.before, request, before);
      const is = request.after && servedBy(request.after, request, after);
      return { ...request.region, ...(was && { before: was }), ...(is && { after: is }) };
    }),
  );
  const untried = [...new Set(sides.flatMap(({ spec }) => untriedOf(spec)))];
  return {
    ...(requests.length === 0
      ? {}
      : { requests: requests.slice(0, MOST_REQUESTS), requestCount: requests.length }),
    ...(untried.length === 0 ? {} : { untried }),
  };
}

function hasConditions({ id, spec }: Mapping): boolean {
  return toRank(spec, id).conditions > 0;
}

/** Whether they match the same requests. */
function isSame({ spec: a }: Mapping, { spec: b }: Mapping): boolean {
  return a.node_group === b.node_group && matchKey(a) === matchKey(b);
}

/** Returns the regions of Mappings, and those in them in which others may decide or serve. */
function regionsOf(sides: readonly Mapping[], before: RequestWorld, after: RequestWorld) {
  const own = sides.map(({ spec }) => ({ group: spec.node_group, region: regionOf(spec) }));
  const parts = [before, after].flatMap(({ access }) =>
    own.flatMap(({ region }) => access.partsOf(region)),
  );
  const others = [before, after].flatMap(({ indexed }) =>
    own.flatMap(({ group, region }) =>
      indexed.serving(group, region).flatMap(({ spec }) => meet(regionOf(spec), region) ?? []),
    ),
  );
  return [...own.map(({ region }) => region), ...parts, ...others];
}

/** Mappings that match the same requests share them, so none of those has moved. */
function isMoved({ before, after }: TriedRequest): boolean {
  if (before === undefined || after === undefined) return before !== after;
  return before.id !== after.id && !isSame(before, after);
}

function servedBy(mapping: Mapping, request: TriedRequest, world: RequestWorld): ServedBy {
  const isEdge = mapping.spec.node_group === EDGE;
  return {
    route: mapping.id,
    to: targetOf(mapping),
    access: isEdge ? accessText(decisionAt(mapping, request, world.access)) : '',
    limits: limitNamesOf(mapping, world),
  };
}
