import type { Glob } from '#resources/match/glob.ts';
import { isWhole, rulesOn } from './asked-paths.ts';
import { type OrderedRule, ruleText } from './rule-order.ts';
import type { ServedFilters } from './served-filters.ts';
import { type TokenProvider, type TokenWay, tokenWay } from './token-way.ts';

/**
 * Returns how the tokens of requests for some paths are verified.
 * @returns undefined when no rule with Filters can match
 */
export type TokensOf = (paths: Glob) => TokenWay | undefined;

/** What the virtual host of some domains has. */
export type TokensOn = (domains: readonly string[]) => TokensOf;

/** Each is one more condition on requests of these routes. */
const MOST_PROVIDERS = 32;

/** How tokens are verified at the edge. */
export type EdgeTokens = { readonly on: TokensOn; readonly providers: readonly TokenProvider[] };

/** Returns which rules proxies decide where each is the first that can match, and matches all. */
export function edgeTokens(
  rules: readonly OrderedRule[],
  served: ServedFilters['byName'],
): EdgeTokens {
  const known = new Map<string, TokenWay>();
  // Very many rules may ask for the same.
  const wayOf = ({ filters, policy: { namespace } }: OrderedRule): TokenWay => {
    const key = JSON.stringify([namespace, filters]);
    const way = known.get(key) ?? tokenWay(filters, namespace, served);
    known.set(key, way);
    return way;
  };
  const ways = new Map(rules.map(rule => [rule, wayOf(rule)] as const));
  const all = [...ways.values()].flatMap(way => ('provider' in way ? way.provider : []));
  const providers = [...new Map(all.map(provider => [provider.name, provider])).values()];
  const used = new Set(providers.slice(0, MOST_PROVIDERS).map(({ name }) => name));
  const lookup = rulesOn(rules);
  const on = (domains: readonly string[]): TokensOf => {
    const find = lookup(domains);
    return paths => {
      const [first] = find(paths);
      if (first === undefined || !first.closes) return undefined;
      if (!isWhole(first, paths, domains))
        return { reason: `${ruleText(first)} is for a part of the route` };
      const way = ways.get(first) ?? { reason: '' };
      return 'provider' in way && !used.has(way.provider.name) ? TOO_MANY : way;
    };
  };
  return { on, providers: providers.slice(0, MOST_PROVIDERS) };
}

const TOO_MANY: TokenWay = { reason: `more than ${MOST_PROVIDERS} kinds of tokens` };
