import type { AuthorizationRequest } from './authorization-url.ts';
import type { JsonObject } from './json-answer.ts';
import type { KeySet } from './key-set.ts';
import type { Endpoint, ProviderMetadata } from './provider-metadata.ts';
import type { SignatureFault, SignedJwt } from './signed-jwt.ts';
import type { TokenSet } from './token-answer.ts';

/** A callback's parameters and what its attempt remembers. */
export type CodeExchange = {
  readonly code: string;
  /** The callback's `iss` (RFC 9207). */
  readonly iss: string | undefined;
  /** The exact text of the authorization request. */
  readonly redirectUri: string;
  readonly codeVerifier: string;
  readonly nonce: string;
};

/** What a request brings for grantType `ClientCredentials`. */
export type ClientCredentials =
  | { readonly kind: 'password'; readonly clientID: string; readonly secret: string }
  | { readonly kind: 'assertion'; readonly assertion: string; readonly clientID?: string };

/**
 * The identity provider of one Filter. Every call takes a signal that aborts when the check's time
 * (4 s) is up, and rejects with a ProviderError only. A TypeError is a mistake of the caller (a
 * grant without the settings it needs).
 */
export type Provider = {
  /** Returns the discovery document, and asks for it when it is unknown. */
  readonly metadata: (signal: AbortSignal) => Promise<ProviderMetadata>;
  /**
   * Returns the keys that are valid now, to tell whether the key of a result is still among them.
   */
  readonly keySet: (signal: AbortSignal) => Promise<KeySet>;
  /**
   * Returns the keys that were known last, without asking.
   * @returns undefined when none are known yet
   */
  readonly knownKeySet: () => KeySet | undefined;
  /**
   * Verifies that a JWT is signed by the provider with one of `algorithms`. Its claims are not
   * judged.
   */
  readonly verify: (
    jwt: string,
    algorithms: readonly string[],
    signal: AbortSignal,
  ) => Promise<SignedJwt | SignatureFault>;
  /**
   * Asks for what requests will need before any of them does. It asks for the discovery document,
   * which must have these endpoints, and the keys. Its failure keeps no request from asking again.
   */
  readonly look: (endpoints: readonly Endpoint[], signal: AbortSignal) => Promise<void>;
  /** Returns where the browser is sent to log in. */
  readonly authorizationUrl: (
    request: AuthorizationRequest,
    signal: AbortSignal,
  ) => Promise<string>;
  /**
   * Throws a ProviderError `issuer_mismatch` when a callback's `iss` is another's, or missing
   * though the provider's metadata promises it (RFC 9207 section 2.4). It is for callbacks with
   * `error`. `exchangeCode` does it itself.
   */
  readonly checkIssuer: (iss: string | undefined, signal: AbortSignal) => Promise<void>;
  /**
   * Exchanges a code with grantType AuthorizationCode for tokens with a validated ID token. Rejects
   * with `no_id_token` without one.
   */
  readonly exchangeCode: (
    exchange: CodeExchange,
    signal: AbortSignal,
  ) => Promise<TokenSet & Required<Pick<TokenSet, 'idToken'>>>;
  /**
   * Refreshes tokens (RFC 6749 section 6). `previous` are the claims of the session's ID token,
   * which a new one must continue. `keep` gets the new refresh token of an answer that cannot be
   * used now, because its key is not available or a token is too large. The old one may be spent.
   */
  readonly refresh: (
    request: {
      readonly refreshToken: string;
      readonly previous: JsonObject;
      readonly keep?: (refreshToken: string) => Promise<void>;
    },
    signal: AbortSignal,
  ) => Promise<TokenSet>;
  /** Gets tokens by RFC 6749 section 4.3. `scope` is sent only when not empty. */
  readonly password: (
    request: {
      readonly username: string;
      readonly password: string;
      readonly scope: readonly string[];
    },
    signal: AbortSignal,
  ) => Promise<TokenSet>;
  /**
   * Gets tokens by RFC 6749 section 4.4, with the request's own credentials. An ID token in the
   * answer is ignored.
   */
  readonly clientCredentials: (
    request: { readonly credentials: ClientCredentials; readonly scope: readonly string[] },
    signal: AbortSignal,
  ) => Promise<TokenSet>;
  /**
   * Asks the userinfo endpoint (OpenID Connect Core section 5.3). `sub` is present and equals
   * `subject`.
   */
  readonly userinfo: (
    request: { readonly accessToken: string; readonly subject: string | undefined },
    signal: AbortSignal,
  ) => Promise<JsonObject>;
  /**
   * Returns where the browser is sent to log out (OpenID Connect RP-Initiated Logout section 2).
   * @returns undefined when the provider has no such place
   */
  readonly endSessionUrl: (
    request: {
      readonly idTokenHint: string;
      readonly state?: string;
      readonly postLogoutRedirectURI?: string;
    },
    signal: AbortSignal,
  ) => Promise<string | undefined>;
  /** Drops all connections. */
  readonly close: () => Promise<void>;
};
