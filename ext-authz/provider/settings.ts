import type { SigningMethod } from '#resources/kinds/filter/signing-method.ts';
import type { SecretValue } from '#resources/words/secret-value.ts';
import type { TlsSettings } from './tls-connector.ts';

/**
 * What concerns a Filter's provider. For names and meaning see docs/reference/kinds/filter.md.
 * Durations are in ms, and defaults are filled in.
 */
export type ProviderSettings = TlsSettings & {
  readonly authorizationURL: string;
  readonly maxStale: number;
  readonly clientAuthentication: ClientAuthentication;
  /** Undefined with grantType `ClientCredentials`. */
  readonly clientID: string | undefined;
  /**
   * The secret as it signs or is sent, without the line feed at its end. Undefined with grantType
   * `ClientCredentials`.
   */
  readonly secret: SecretValue | undefined;
};

export type ClientAuthentication =
  | { readonly method: 'HeaderPassword' | 'BodyPassword' }
  | { readonly method: 'JWTAssertion'; readonly jwtAssertion: AssertionSettings };

/** See docs/reference/kinds/filter.md. */
export type AssertionSettings = {
  readonly setClientID: boolean;
  /** Undefined means the token endpoint. */
  readonly audience: string | undefined;
  readonly signingMethod: SigningMethod;
  readonly lifetime: number;
  readonly setNBF: boolean;
  readonly nbfSafetyMargin: number;
  readonly setIAT: boolean;
  readonly otherClaims: { readonly [name: string]: unknown };
  /** Undefined means that of a JWK. */
  readonly kid: string | undefined;
  readonly otherHeaderParameters: { readonly [name: string]: unknown };
};
