import type { JwtSpec } from '#resources/kinds/filter/filter-jwt.ts';
import type { FilterReference } from '#resources/kinds/filter-policy/filter-policy.ts';
import { hashSpec } from '#resources/words/hash.ts';
import { filterKey } from './filter-key.ts';
import type { ServedFilter, ServedFilters } from './served-filters.ts';
import { tokenCheck } from './token-check.ts';
import { type TokenHeader, tokenHeaders } from './token-headers.ts';

/** A JWT Filter whose tokens proxies verify too, for one list of scope values. */
export type TokenProvider = {
  /** A hash of all that it means. So an older one never stands for a newer one. */
  readonly name: string;
  /** `<namespace>/<name>` of the Filter. */
  readonly filter: string;
  readonly jwksURI: string;
  /** Signature algorithms whose keys a proxy may have. */
  readonly algorithms: readonly string[];
  /** A condition in CEL on what Envoy has verified. */
  readonly check: string;
  /** What it sets where the condition holds. */
  readonly headers: readonly TokenHeader[];
};

/** How bearer tokens of some requests are verified, or why the Filter service alone does it. */
export type TokenWay = { readonly provider: TokenProvider } | { readonly reason: string };

/** What a rule says of a Filter. */
export type TokenReference = Pick<
  FilterReference,
  'name' | 'namespace' | 'ifRequestHeader' | 'arguments'
>;

/**
 * Returns the way of requests for which these Filters run, of a policy in `namespace`. Proxies
 * verify tokens only where each token that they accept is one that the service accepts, and where
 * the service would change nothing of the request. See docs/adr/0024-tokens-in-the-proxy.md.
 */
export function tokenWay(
  items: readonly TokenReference[],
  namespace: string,
  served: ServedFilters['byName'],
): TokenWay {
  const [item, ...others] = items;
  if (item === undefined || others.length > 0) return { reason: 'several Filters decide' };
  const name = filterKey(item.namespace ?? namespace, item.name);
  const reason = itemReason(item) ?? filterReason(served.get(name));
  const spec = served.get(name)?.filter.spec.JWT;
  if (reason !== undefined || spec === undefined)
    return { reason: reason ?? `Filter ${name} is not in force` };
  const scope = item.arguments.scope ?? [];
  const headers = tokenHeaders(spec);
  if (headers === undefined)
    return { reason: '`injectRequestHeaders` has more than one claim or plain text each' };
  const check = tokenCheck(spec, scope, headers);
  if ('reason' in check) return check;
  const provider = providerOf(name, spec, scope, check.texts);
  return provider.check.length > LONGEST_CHECK
    ? { reason: 'what the Filter asks for is too long for Envoy' }
    : { provider: { ...provider, headers } };
}

function itemReason({ arguments: given, ifRequestHeader }: TokenReference): string | undefined {
  if (ifRequestHeader !== undefined) return 'the rule has `ifRequestHeader`';
  return given.insteadOfRedirect === undefined ? undefined : 'the rule has `insteadOfRedirect`';
}

function filterReason(served: ServedFilter | undefined): string | undefined {
  if (served === undefined) return 'the Filter is not in force';
  const { JWT } = served.filter.spec;
  if (JWT === undefined) return 'an OAuth2 Filter also knows sessions';
  if (JWT.jwksURI === undefined || algorithmsOf(JWT).length === 0)
    return '`validAlgorithms` has none that Envoy and the Filter judge alike';
  return undefined;
}

/** Envoy takes values of 16 KiB. */
const LONGEST_CHECK = 16_000;

/** The algorithms of RFC 7518 with public keys. */
const ALIKE = /^(?:[RP]S|ES)(?:256|384|512)$/;

function algorithmsOf({ validAlgorithms }: JwtSpec): readonly string[] {
  return validAlgorithms.filter(algorithm => ALIKE.test(algorithm));
}

function providerOf(
  filter: string,
  spec: JwtSpec,
  scope: readonly string[],
  texts: (name: string) => string,
): Omit<TokenProvider, 'headers'> {
  const name = hashSpec({ filter, spec, scope }).replaceAll(/[^\w]/g, '').slice(0, 20);
  const algorithms = algorithmsOf(spec);
  return { name, filter, jwksURI: spec.jwksURI ?? '', algorithms, check: texts(name) };
}
