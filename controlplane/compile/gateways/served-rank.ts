import { compareText } from '#resources/words/order.ts';

/** What decides which of two matches of Gateway API's routes is tried first. */
export type ServedRank = {
  /** The hostname of the route that covers the virtual host's domain. */
  readonly hostname: string;
  /** Whether it is of a GRPCRoute, which is for calls of gRPC alone. */
  readonly isCall: boolean;
  readonly path: 'exact' | 'expression' | 'prefix';
  /** The length of the path. */
  readonly length: number;
  readonly hasMethod: boolean;
  readonly headers: number;
  readonly query: number;
  /** When the route was created, as RFC 3339 in UTC. Absent in folders. */
  readonly created: string;
  /** `namespace/name` of the route. */
  readonly name: string;
  /** The place of the rule in the route, and of the match in the rule. */
  readonly rule: number;
  readonly match: number;
};

const PATHS = ['exact', 'expression', 'prefix'];

/**
 * Compares two matches, since Envoy takes the first one that matches. Source: the comments of
 * `hostnames` and `matches` in Gateway API's HTTPRoute and GRPCRoute. What they leave to
 * implementations: expressions come between exact paths and prefixes. The two kinds are not merged,
 * so calls of gRPC are for the GRPCRoutes of a hostname first.
 */
export function compareRanks(a: ServedRank, b: ServedRank): number {
  return (
    hostnameRank(b.hostname) - hostnameRank(a.hostname) ||
    Number(b.isCall) - Number(a.isCall) ||
    PATHS.indexOf(a.path) - PATHS.indexOf(b.path) ||
    b.length - a.length ||
    Number(b.hasMethod) - Number(a.hasMethod) ||
    b.headers - a.headers ||
    b.query - a.query ||
    compareText(a.created, b.created) ||
    compareText(a.name, b.name) ||
    a.rule - b.rule ||
    a.match - b.match
  );
}

/** A whole name comes before every wildcard, and a longer wildcard before a shorter one. */
function hostnameRank(hostname: string): number {
  return hostname.startsWith('*') ? hostname.length : Number.MAX_SAFE_INTEGER;
}
