import type { AssertionSettings, ProviderSettings } from '#ext-authz/provider/settings.ts';
import { SecretValue } from '#resources/words/secret-value.ts';

/**
 * Returns the settings for a provider at this URL, with the client `client`, and the defaults for
 * everything else.
 */
export function providerSettings(
  authorizationURL: string,
  changes: Partial<ProviderSettings> = {},
): ProviderSettings {
  return {
    authorizationURL,
    insecureTLS: false,
    trustedCa: undefined,
    renegotiateTLS: 'never',
    maxStale: 0,
    clientAuthentication: { method: 'HeaderPassword' },
    clientID: 'client',
    secret: secretOf('secret'),
    ...changes,
  };
}

/** The defaults of jwtAssertion. */
export function assertionSettings(changes: Partial<AssertionSettings> = {}): AssertionSettings {
  return {
    setClientID: false,
    audience: undefined,
    signingMethod: 'RS256',
    lifetime: 60_000,
    setNBF: false,
    nbfSafetyMargin: 0,
    setIAT: false,
    otherClaims: {},
    kid: undefined,
    otherHeaderParameters: {},
    ...changes,
  };
}

export function secretOf(text: string): SecretValue {
  return new SecretValue(new TextEncoder().encode(text));
}
