import type { JsonObject } from '#protos/json.ts';
import { compareText } from '#resources/words/order.ts';

/** What decides which of two routes is tried first. */
export type RouteRank = {
  readonly precedence: number;
  /** Whether the path is one path, not a prefix or an expression. */
  readonly exact: boolean;
  /** The length of the path, prefix or expression. */
  readonly length: number;
  /** The number of further conditions, on method, headers and query. */
  readonly conditions: number;
  /** Whether the path matches in any letter case. */
  readonly anyCase?: boolean;
  /** The domain that it was written for. A narrower one comes first. */
  readonly host: string;
  /** Whether it is for the hosts of `*` that an expression matches. */
  readonly hostRegex?: boolean;
  readonly id: string;
};

/** One route, its rank among the others, and the ids of the resources that it comes from. */
export type RouteEntry = {
  readonly rank: RouteRank;
  readonly route: JsonObject;
  readonly origins: readonly string[];
};

/**
 * Compares routes, since Envoy takes the first one that matches. Order: higher precedence, exact
 * path, longer path, more conditions, letter case counts, narrower host, id. The id makes it total,
 * so that equal input gives equal bytes.
 */
export function compareRoutes({ rank: a }: RouteEntry, { rank: b }: RouteEntry): number {
  return (
    b.precedence - a.precedence ||
    Number(b.exact) - Number(a.exact) ||
    b.length - a.length ||
    b.conditions - a.conditions ||
    Number(a.anyCase ?? false) - Number(b.anyCase ?? false) ||
    hostRank(b) - hostRank(a) ||
    compareText(a.id, b.id)
  );
}

/**
 * An exact host is narrower than every wildcard, and a longer wildcard narrower than a shorter. An
 * expression is only narrower than `*`.
 */
function hostRank({ host, hostRegex = false }: RouteRank): number {
  if (hostRegex) return '*'.length + 1;
  return host.startsWith('*') ? host.length : Number.MAX_SAFE_INTEGER;
}
