import { type Conditions, combinationsOf, conditionTexts } from './conditions.ts';
import { type Region, samplesOf } from './region.ts';
import { compareMappings, type Indexed, type Mapping, matches, requestOf } from './served.ts';

/** A request that stands for others of its region. */
export type Tried = {
  readonly region: Region;
  readonly host: string;
  readonly path: string;
  readonly conditions: Conditions;
};

/** With the Mappings that serve it. */
export type TriedRequest = Tried & {
  /** Absent: it has no route. */
  readonly before?: Mapping;
  readonly after?: Mapping;
};

/** The most hosts and paths that are tried for one Mapping. */
const MOST_POINTS = 256;

/**
 * Tries requests in some regions of a Mapping, by what it asks for on either side of a change, and
 * by what the others there ask for. All sides are of one node group.
 */
export function tryRequests(
  sides: readonly Mapping[],
  regions: readonly Region[],
  before: Indexed,
  after: Indexed,
): readonly TriedRequest[] {
  const group = sides[0]?.spec.node_group ?? '';
  return pointsOf(regions).flatMap(({ region, point }) => {
    const [old, next] = [before, after].map(({ serving }) =>
      serving(group, point).toSorted(compareMappings),
    );
    const asked = [...sides, ...(old ?? []), ...(next ?? [])].map(({ spec }) => spec);
    return combinationsOf(asked).map(conditions => {
      const request = requestOf(point, conditions);
      const [first, second] = [old, next].map(all => all?.find(each => matches(each, request)));
      return {
        ...{ region, conditions, ...point },
        ...(first === undefined ? {} : { before: first }),
        ...(second === undefined ? {} : { after: second }),
      };
    });
  });
}

/**
 * Returns what is told of the requests, each once with what the requests of its region have in
 * common. `tell` returns undefined when there is nothing to tell of a request.
 */
export function toldOf<Request extends Tried, Told extends object>(
  tried: readonly Request[],
  tell: (request: Request) => Told | undefined,
): readonly (Told & { readonly conditions?: readonly string[] })[] {
  return [...Map.groupBy(tried, ({ region }) => region).values()].flatMap(inRegion => {
    const found = inRegion.flatMap(request => {
      const told = tell(request);
      return told === undefined ? [] : [{ told, conditions: request.conditions }];
    });
    const all = inRegion.map(({ conditions }) => conditions);
    const alike = Map.groupBy(found, ({ told }) => JSON.stringify(told));
    return [...alike.values()].flatMap(([first, ...others]) => {
      if (first === undefined) return [];
      const some = [first, ...others].map(({ conditions }) => conditions);
      const conditions = conditionTexts(some, all);
      return [{ ...first.told, ...(conditions.length === 0 ? {} : { conditions }) }];
    });
  });
}

function pointsOf(regions: readonly Region[]) {
  const points = new Map<string, { readonly region: Region; readonly point: Region }>();
  for (const region of regions)
    for (const point of samplesOf(region)) {
      const key = `${point.host} ${point.path}`;
      if (points.size < MOST_POINTS && !points.has(key)) points.set(key, { region, point });
    }
  return [...points.values()];
}
