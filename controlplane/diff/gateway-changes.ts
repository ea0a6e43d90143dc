import { coveringDomains } from '#controlplane/compile/domain-cover.ts';
import { isVerifying } from '#controlplane/compile/ext-authz/token-filters.ts';
import type { Route } from '#controlplane/explain/route-configuration.ts';
import type { JsonObject } from '#protos/json.ts';
import { distinct } from '#resources/words/distinct.ts';
import { effectOf, toAccess, widest } from './access-changes.ts';
import { type Asked, combinationsOf } from './conditions.ts';
import type { AccessChange, RequestChange, ServedBy } from './difference.ts';
import { askedBy, globOf, samplesIn } from './gateway-match.ts';
import {
  type GatewayWorld,
  gatewayTables,
  type RequestServer,
  requestServer,
  type ServedRequest,
  type Table,
  targetText,
} from './gateway-world.ts';
import { type Region, samplesOf } from './region.ts';
import { accessText } from './route-facts.ts';
import { requestOf } from './served.ts';
import { type Tried, toldOf } from './tried-requests.ts';

/** What a change does to requests that Gateways serve. */
export type GatewayChanges = {
  readonly access: readonly AccessChange[];
  /** Requests that others serve than before, by the id of the route that did, or does now. */
  readonly requests: ReadonlyMap<string, readonly RequestChange[]>;
  /** Whether there may be more, because no more requests were tried than `MOST_POINTS`. */
  readonly isPartial: boolean;
};

/** A request, and what serves it on both sides. */
type TriedRequest = Tried & {
  readonly before: ServedRequest | undefined;
  readonly after: ServedRequest | undefined;
};

/** The most hosts and paths that are tried of all tables. */
const MOST_POINTS = 4_096;
/** The most other routes of a host whose conditions are tried at a point. */
const MOST_ASKED = 12;

/**
 * Returns what changes for requests, by the routes that Envoy gets on both sides. So it does not
 * matter which resource makes the difference: a route, a Filter, a Gateway or a ReferenceGrant.
 */
export function gatewayChanges(before: GatewayWorld, after: GatewayWorld): GatewayChanges {
  const [was, is] = [gatewayTables(before.compiled), gatewayTables(after.compiled)];
  const [first, second] = [requestServer(before), requestServer(after)];
  const access: AccessChange[] = [];
  const moved: { readonly route: string; readonly request: RequestChange }[] = [];
  let left = MOST_POINTS;
  for (const name of [...new Set([...was.keys(), ...is.keys()])].sort()) {
    const [old, next] = [was.get(name) ?? NO_TABLE, is.get(name) ?? NO_TABLE];
    const points = pointsOf(
      { table: old, world: before, server: first },
      { table: next, world: after, server: second },
      left,
    );
    left -= points.length;
    const tried = points.flatMap(({ asked, point, region }) =>
      combinationsOf(asked).map((conditions): TriedRequest => {
        const request = requestOf(point, conditions);
        return {
          ...{ region, conditions, ...point },
          before: first.serve(old, request, point),
          after: second.serve(next, request, point),
        };
      }),
    );
    access.push(...widest(toldOf(tried, accessChange)));
    const requests = toldOf(tried, requestChanges(before, after));
    moved.push(
      ...widest(requests).map(request => ({
        route: request.before?.route ?? request.after?.route ?? '',
        request,
      })),
    );
  }
  const byRoute = Map.groupBy(moved, ({ route }) => route);
  return {
    access: distinct(access),
    requests: new Map(
      [...byRoute].map(([id, all]) => [id, distinct(all.map(({ request }) => request))]),
    ),
    isPartial: left === 0,
  };
}

const NO_TABLE: Table = new Map();

function accessChange({ after, before, region }: TriedRequest): AccessChange | undefined {
  if (before === undefined || after === undefined) return undefined;
  const effect = effectOf(before.decision, after.decision);
  if (effect === undefined) return undefined;
  const sides = { before: toAccess(before.decision), after: toAccess(after.decision) };
  return { effect, ...region, ...sides, routes: [after.route.name], routeCount: 1 };
}

/** Returns what tells which requests are served otherwise. */
function requestChanges(before: GatewayWorld, after: GatewayWorld) {
  return ({ after: next, before: old, region }: TriedRequest): RequestChange | undefined => {
    const [was, is] = [old && servedBy(old, before), next && servedBy(next, after)];
    if (was?.route === is?.route && was?.to === is?.to) return undefined;
    return { ...region, ...(was && { before: was }), ...(is && { after: is }) };
  };
}

function servedBy({ decision, route }: ServedRequest, { limits }: GatewayWorld): ServedBy {
  return {
    route: route.name,
    to: targetText(route),
    access: accessText(decision),
    limits: limits.namesOf(route.name),
  };
}

type Point = {
  readonly region: Region;
  readonly point: Region;
  readonly asked: readonly Asked[];
};

/** One side of a table of routes. */
type TableSide = {
  readonly table: Table;
  readonly world: GatewayWorld;
  readonly server: RequestServer;
};

/**
 * Returns requests that stand for those of the routes that differ, and for parts with own rules.
 */
function pointsOf(old: TableSide, next: TableSide, most: number): readonly Point[] {
  const sides = [old, next];
  const domains = new Set(sides.flatMap(({ table }) => [...table.keys()]));
  const points = new Map<string, Point>();
  for (const domain of [...domains].sort()) {
    const [before = [], after = []] = sides.map(side => listedRoutes(side, domain));
    const all = [...before, ...after].map(({ route }) => route.match);
    for (const { match } of changedRoutes(before, after)) {
      const region = { host: domain, path: globOf(match) };
      const parts = sides.flatMap(({ world }) => world.access.partsOf(region));
      const samples = [...samplesIn(match, domain), ...parts.flatMap(samplesOf)];
      for (const point of samples) {
        if (points.size >= most) return [...points.values()];
        const key = `${domain} ${point.host} ${point.path}`;
        const chosen = coveringDomains(point.host).find(each => domains.has(each));
        if (points.has(key) || chosen !== domain) continue;
        const others = all.filter(each => mayMatch(each, point.path)).slice(0, MOST_ASKED);
        points.set(key, { region, point, asked: [match, ...others].map(askedBy) });
      }
    }
  }
  return [...points.values()];
}

/** A route of a resource. The key is the same for one that does the same. */
type Listed = { readonly key: string; readonly route: Route };

/** A route that verifies tokens decides nothing by itself, and stands before the same route. */
function listedRoutes({ server, table }: TableSide, domain: string): readonly Listed[] {
  const routes = (table.get(domain)?.routes ?? []).filter(
    route => route.name.includes('/') && !isVerifying(route),
  );
  return routes.map(route => ({
    key: JSON.stringify([route, server.filtersOf(route)]),
    route,
  }));
}

/** Returns the routes that the other side has not, and those between which the order differs. */
function changedRoutes(before: readonly Listed[], after: readonly Listed[]): readonly Route[] {
  const [was, is] = [before, after].map(all => new Set(all.map(({ key }) => key)));
  const lone = [
    ...before.filter(({ key }) => !is?.has(key)),
    ...after.filter(({ key }) => !was?.has(key)),
  ];
  const old = before.filter(({ key }) => is?.has(key));
  const next = after.filter(({ key }) => was?.has(key));
  const differs = ({ key }: Listed, index: number) => next[index]?.key !== key;
  const moved = old.slice(firstOf(old, differs), old.findLastIndex(differs) + 1);
  return [...lone, ...moved].map(({ route }) => route);
}

function firstOf(all: readonly Listed[], holds: (each: Listed, index: number) => boolean): number {
  const index = all.findIndex(holds);
  return index === -1 ? all.length : index;
}

/** Whether a route may match a path, so that its conditions matter there. */
function mayMatch(match: JsonObject, path: string): boolean {
  const [start = ''] = globOf(match).split('*', 1);
  return path.startsWith(start);
}
