import type { OAuth2Settings } from '#ext-authz/policy/filter-settings.ts';
import { providerSettings } from '#ext-authz/testing/provider-settings.ts';

/**
 * Returns the settings of an OAuth2 filter with the client `client`, and the defaults for
 * everything else.
 */
export function oauth2Settings(
  issuer: string,
  changes: Partial<OAuth2Settings> & Pick<OAuth2Settings, 'grantType'>,
): OAuth2Settings {
  return {
    ...providerSettings(issuer),
    expirationSafetyMargin: 0,
    protectedOrigins: [],
    useSessionCookies: { value: false, ifRequestHeader: undefined },
    extraAuthorizationParameters: new Map(),
    clientSessionMaxIdle: 1_209_600_000,
    decisionCache: undefined,
    postLogoutRedirectURI: undefined,
    allowMalformedAccessToken: false,
    accessTokenValidation: 'auto',
    accessTokenJWTFilter: undefined,
    injectRequestHeaders: [],
    ...changes,
  };
}
