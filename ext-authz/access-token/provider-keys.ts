import type { KeySource } from '#ext-authz/jwt/verified-tokens.ts';
import type { Provider } from '#ext-authz/provider/provider.ts';

/** See docs/reference/kinds/filter.md. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512'];

/**
 * Returns the keys of a provider, for access tokens that the provider issued itself. `iss` must be
 * present and be that of the discovery document (RFC 9068 section 4), by either name that it has
 * there.
 */
export function providerKeys(
  provider: Pick<Provider, 'keySet' | 'knownKeySet' | 'metadata' | 'verify'>,
): KeySource<'issuer'> {
  return {
    verify: async (jwt, signal) => {
      const token = await provider.verify(jwt, ALGORITHMS, signal);
      if (typeof token === 'string') return token;
      const { access_token_issuer, issuer } = await provider.metadata(signal);
      const { iss } = token.claims;
      return iss === issuer || (iss !== undefined && iss === access_token_issuer)
        ? token
        : 'issuer';
    },
    keySet: provider.keySet,
    knownKeySet: provider.knownKeySet,
  };
}
