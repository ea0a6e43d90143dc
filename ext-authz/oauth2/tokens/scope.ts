import { scopeOrScp } from '#ext-authz/jwt/claims.ts';
import { decodeJwt } from '#ext-authz/jwt/token-data.ts';

/**
 * Returns the scope that grants ClientCredentials and Password ask for, sorted and without
 * duplicates. By default it is empty. See docs/reference/kinds/filter-policy.md.
 */
export function requestedScope(listed: readonly string[] | undefined): readonly string[] {
  return [...new Set(listed)].sort();
}

/**
 * Returns the values listed for a path that were not granted. `offline_access` may be absent. See
 * docs/reference/kinds/filter.md.
 */
export function missingScope(
  listed: readonly string[],
  granted: readonly string[],
): readonly string[] {
  return listed.filter(value => value !== 'offline_access' && !granted.includes(value));
}

/** OpenID Connect Core sections 3.1.2.1, 5.4 and 11. An access token need not tell these values. */
const OF_OPENID = ['openid', 'offline_access', 'profile', 'email', 'address', 'phone'];

/**
 * Returns the scope that an access token tells by itself (RFC 9068 section 2.2.3). A provider that
 * has granted nothing of what was asked for may list no scope beside it, as `oidc-provider` does.
 * @returns undefined when its form says nothing of a scope
 */
export function toldScope(
  accessToken: string,
  asked: readonly string[],
): readonly string[] | undefined {
  const { claims, header } = decodeJwt(accessToken) ?? {};
  const isProfiled = /^(?:application\/)?at\+jwt$/i.test(String(header?.typ));
  if (claims === undefined || !isProfiled) return undefined;
  return [...scopeOrScp(claims), ...asked.filter(value => OF_OPENID.includes(value))];
}
