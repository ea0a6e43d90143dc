import type { Glob } from '#resources/match/glob.ts';
import { isWhole, rulesOn } from './asked-paths.ts';
import { type OrderedRule, ruleText } from './rule-order.ts';
import type { ServedFilters } from './served-filters.ts';
import { type TokenProvider, type TokenReference, type TokenWay, tokenWay } from './token-way.ts';

/**
 * Returns how the tokens of requests for some paths are verified. `routeRule` is the name of the
 * rule of a Gateway API route whose Filters run first.
 * @returns undefined when no Filters can run
 */
export type TokensOf = (paths: Glob, routeRule?: string) => TokenWay | undefined;

/** What the virtual host of some domains has. */
export type TokensOn = (domains: readonly string[]) => TokensOf;

/** The Filters of rules of Gateway API routes, by the names of the rules. */
export type RouteReferences = ReadonlyMap<string, readonly TokenReference[]>;

/** Each has its keys, and its own memory of tokens, in every worker. */
const MOST_PROVIDERS = 32;

/** How tokens are verified at the edge. */
export type EdgeTokens = { readonly on: TokensOn; readonly providers: readonly TokenProvider[] };

/**
 * Returns which rules proxies decide. That is one that is the first that can match and matches all,
 * or that of a route where no other can match.
 */
export function edgeTokens(
  rules: readonly OrderedRule[],
  served: ServedFilters['byName'],
  routes: RouteReferences = new Map(),
): EdgeTokens {
  const known = new Map<string, TokenWay>();
  // Very many rules may ask for the same.
  const wayOf = (filters: readonly TokenReference[], namespace: string): TokenWay => {
    const key = JSON.stringify([namespace, filters]);
    const way = known.get(key) ?? tokenWay(filters, namespace, served);
    known.set(key, way);
    return way;
  };
  const ways = new Map(rules.map(rule => [rule, wayOf(rule.filters, rule.policy.namespace)]));
  const named = new Map([...routes].map(([name, filters]) => [name, wayOf(filters, '')]));
  const all = [...ways.values(), ...named.values()].flatMap(way =>
    'provider' in way ? way.provider : [],
  );
  const providers = [...new Map(all.map(provider => [provider.name, provider])).values()];
  const used = new Set(providers.slice(0, MOST_PROVIDERS).map(({ name }) => name));
  const usable = (way: TokenWay | undefined) =>
    way !== undefined && 'provider' in way && !used.has(way.provider.name) ? TOO_MANY : way;
  const lookup = rulesOn(rules);
  const on = (domains: readonly string[]): TokensOf => {
    const find = lookup(domains);
    return (paths, routeRule) => {
      const found = find(paths);
      const [first] = found;
      if (routeRule !== undefined)
        return found.some(({ closes }) => closes) ? BEHIND : usable(named.get(routeRule));
      if (first === undefined || !first.closes) return undefined;
      return isWhole(first, paths, domains)
        ? usable(ways.get(first))
        : { reason: `${ruleText(first)} is for a part of the route` };
    };
  };
  return { on, providers: providers.slice(0, MOST_PROVIDERS) };
}

const BEHIND: TokenWay = { reason: 'a FilterPolicy may ask for more Filters' };
const TOO_MANY: TokenWay = { reason: `more than ${MOST_PROVIDERS} kinds of tokens` };
