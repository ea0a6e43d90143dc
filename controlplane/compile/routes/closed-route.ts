import type { JsonObject } from '#protos/json.ts';
import type { Rejected } from '#resources/resource.ts';
import { WITHOUT_FILTERS } from '../ext-authz/ext-authz-filter.ts';
import { setHeader } from '../header-option.ts';
import { toRank, toRouteMatch } from './mapping-match.ts';
import type { RouteEntry } from './route-entry.ts';

/** A rejected Mapping of which it is known what it would have served. */
export type ClosedMapping = Rejected & { readonly match: NonNullable<Rejected['match']> };

/**
 * Returns whether a rejected Mapping closes what it matches. Requests of one whose match cannot be
 * read go on to wider Mappings.
 */
export function isClosedMapping(rejected: Rejected): rejected is ClosedMapping {
  return rejected.match !== undefined;
}

/**
 * Returns the route of a rejected Mapping, in its place. What it matches is answered 500 and falls
 * through to no wider prefix.
 */
export function closedRoute(rejected: ClosedMapping): RouteEntry {
  return {
    rank: toRank(rejected.match, rejected.id),
    route: closed(rejected.id, toRouteMatch(rejected.match)),
    origins: [rejected.id],
  };
}

/**
 * Returns a route that answers 500, or 503, without a reason. The operator finds the reason in the
 * status.
 */
export function closed(name: string, match: JsonObject, status: 500 | 503 = 500): JsonObject {
  return {
    name,
    match,
    direct_response: { status, body: { inline_string: bodyOf(status) } },
    response_headers_to_add: [
      setHeader('content-type', 'application/json'),
      setHeader('cache-control', 'no-store'),
    ],
  };
}

/** Returns the route that closes every path. No filter is asked before. */
export function closedWholly(name: string): JsonObject {
  return { ...closed(name, { prefix: '/' }), ...WITHOUT_FILTERS };
}

/** Returns whether this is the status of a closed route. */
export function isStatusOfClosed(status: number | undefined): boolean {
  return status === 500 || status === 503;
}

function bodyOf(status_code: number): string {
  const message = 'This route is closed: its configuration has an error.';
  return JSON.stringify({ message, status_code });
}
