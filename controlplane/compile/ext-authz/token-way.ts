import type { JsonObject } from '#protos/json.ts';
import type { JwtSpec } from '#resources/kinds/filter/filter-jwt.ts';
import { delegateOf, type FilterName } from '#resources/kinds/filter/injected-headers.ts';
import type { HeaderCondition } from '#resources/match/header-condition.ts';
import type { Resource } from '#resources/resource.ts';
import { hashSpec } from '#resources/words/hash.ts';
import { headerIdentity } from '#resources/words/header-identity.ts';
import { filterKey } from './filter-key.ts';
import type { ServedFilter, ServedFilters } from './served-filters.ts';
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
  /** What the claims of a verified token must be, and what it sets then. See token-script.ts. */
  readonly terms: JsonObject;
};

/** How bearer tokens of some requests are verified, or why the Filter service alone does it. */
export type TokenWay = { readonly provider: TokenProvider } | { readonly reason: string };

/** What a rule says of a Filter. */
export type TokenReference = {
  readonly name: string;
  readonly namespace?: string;
  readonly ifRequestHeader?: HeaderCondition;
  readonly onAllow?: 'break' | 'continue';
  readonly arguments: {
    readonly scope?: readonly string[] | undefined;
    readonly insteadOfRedirect?: unknown;
  };
};

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
  if (item === undefined) return { reason: 'no Filter decides' };
  const filterOf = (each: FilterName, own = namespace) =>
    served.get(filterKey(each.namespace ?? own, each.name))?.filter;
  const isSkipped = (each: TokenReference) => {
    const filter = filterOf(each);
    const delegate = filter && delegateOf(filter);
    const setting = [filter, ...(delegate ? [filterOf(delegate, filter.namespace)] : [])];
    return item.onAllow === 'break' && changesNothing(each, setting);
  };
  const name = filterKey(item.namespace ?? namespace, item.name);
  const reason = others.every(isSkipped)
    ? (itemReason(item) ?? filterReason(served.get(name)))
    : 'several Filters decide';
  const spec = served.get(name)?.filter.spec.JWT;
  if (reason !== undefined || spec === undefined)
    return { reason: reason ?? `Filter ${name} is not in force` };
  const headers = tokenHeaders(spec);
  return headers === undefined
    ? { reason: '`injectRequestHeaders` has more than one claim or plain text each' }
    : { provider: providerOf(name, spec, item.arguments.scope ?? [], headers) };
}

/**
 * Returns whether a Filter behind one that lets a request pass changes nothing of it. One that may
 * set `Authorization` takes away what the client has sent there. `setting` are the Filters that set
 * its headers.
 */
function changesNothing(
  { arguments: { insteadOfRedirect } }: TokenReference,
  setting: readonly (Resource<'Filter'> | undefined)[],
): boolean {
  return (
    insteadOfRedirect === undefined &&
    setting.every(
      filter =>
        (filter?.spec.JWT ?? filter?.spec.OAuth2)?.injectRequestHeaders.every(
          ({ name }) => headerIdentity(name) !== 'authorization',
        ) === true,
    )
  );
}

/** Every token that a proxy verifies is in `Authorization`. */
function itemReason({ arguments: given, ifRequestHeader }: TokenReference): string | undefined {
  const { name, negate, value, valueRegex } = ifRequestHeader ?? { name: 'authorization' };
  const holds = name.toLowerCase() === 'authorization' && !negate;
  if (!holds || value !== undefined || valueRegex !== undefined)
    return 'the rule has `ifRequestHeader`';
  return given.insteadOfRedirect === undefined ? undefined : 'the rule has `insteadOfRedirect`';
}

function filterReason(served: ServedFilter | undefined): string | undefined {
  if (served === undefined) return 'the Filter is not in force';
  const { JWT } = served.filter.spec;
  if (JWT === undefined) return 'an OAuth2 Filter also knows sessions';
  if (JWT.jwksURI === undefined || algorithmsOf(JWT).length === 0)
    return '`validAlgorithms` has none that Envoy and the Filter judge alike';
  const { leewayForExpiresAt, leewayForIssuedAt, leewayForNotBefore } = JWT;
  return Math.min(leewayForExpiresAt, leewayForIssuedAt, leewayForNotBefore) < 0
    ? 'a leeway is less than 0'
    : undefined;
}

/** The algorithms of RFC 7518 with public keys. */
const ALIKE = /^(?:[RP]S|ES)(?:256|384|512)$/;

function algorithmsOf({ validAlgorithms }: JwtSpec): readonly string[] {
  return validAlgorithms.filter(algorithm => ALIKE.test(algorithm));
}

function providerOf(
  filter: string,
  spec: JwtSpec,
  scope: readonly string[],
  headers: readonly TokenHeader[],
): TokenProvider {
  const name = hashSpec({ filter, spec, scope }).replaceAll(/[^\w]/g, '').slice(0, 20);
  const { audience, issuer, jwksURI = '' } = spec;
  const terms = {
    ...(issuer === undefined ? {} : { issuer }),
    ...(audience === undefined ? {} : { audience }),
    requireIssuer: spec.requireIssuer,
    requireAudience: spec.requireAudience,
    requireExpiresAt: spec.requireExpiresAt,
    requireNotBefore: spec.requireNotBefore,
    requireIssuedAt: spec.requireIssuedAt,
    ...{ scope, headers },
  };
  return { name, filter, jwksURI, algorithms: algorithmsOf(spec), terms };
}
