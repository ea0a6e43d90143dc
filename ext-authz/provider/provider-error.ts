/**
 * What went wrong with the provider. The caller decides what the client sees
 * (docs/reference/status-codes.md).
 */
export type ProviderErrorCode =
  /** No connection, a failed TLS handshake, or an answer that broke off. */
  | 'unreachable'
  /** The caller's time was up, or the shared request took too long. */
  | 'timeout'
  /** An answer of more than 1 MiB, or a token that is too long to be stored. */
  | 'too_large'
  /** A status for which the protocol has no use. Redirects are among them. */
  | 'http_status'
  /** Not the JSON, or not the members, that the protocol asks for. */
  | 'invalid_answer'
  /** The discovery document's `issuer`, or the callback's `iss`, is another provider's. */
  | 'issuer_mismatch'
  /** The provider has no such endpoint. */
  | 'missing_endpoint'
  /** The token answer has no ID token though one is required. */
  | 'no_id_token'
  | 'invalid_id_token'
  /** The key that signed the ID token is not published, or is another one. It may be, soon. */
  | 'unverified_id_token'
  /** UserInfo is about another user. */
  | 'subject_mismatch'
  /** The provider's own refusal (RFC 6749 section 5.2, RFC 6750 section 3.1). See `oauthError`. */
  | 'oauth_error';

export type ProviderErrorFacts = {
  /**
   * The provider's error code when `code` is `oauth_error`. It is 1 to 64 letters, digits, `_`, `.`
   * and `-`. Anything else is `unrecognised`.
   */
  readonly oauthError?: string;
  /** The HTTP status of the provider's answer, where there was one. */
  readonly status?: number;
  /** When the provider wants the next request, in ms from its answer. */
  readonly retryAfter?: number;
  /**
   * `unreachable`, or an ID token that is not accepted, for a reason that stays until the operator
   * changes something.
   */
  readonly lasting?: boolean;
};

/**
 * The only error of the provider's adapter. Its message is for the log alone, and without secrets.
 * It names what was asked, where, what came back and which setting to look at. Of the provider's
 * own text it has only what `shownDescription` lets through. It has no `cause`, which might hold
 * tokens.
 */
export class ProviderError extends Error {
  readonly code: ProviderErrorCode;
  readonly oauthError: string | undefined;
  readonly status: number | undefined;
  readonly retryAfter: number | undefined;
  readonly lasting: boolean;

  constructor(
    code: ProviderErrorCode,
    message: string,
    { lasting = false, oauthError, retryAfter, status }: ProviderErrorFacts = {},
  ) {
    super(message);
    this.name = 'ProviderError';
    this.code = code;
    this.oauthError = oauthError;
    this.status = status;
    this.retryAfter = retryAfter;
    this.lasting = lasting;
  }

  /**
   * Returns the code by which the provider refused what was sent. A 429 (RFC 6585 section 4) is
   * about the gateway, whatever code is beside it.
   * @returns undefined when the provider did not refuse it
   */
  get refusal(): string | undefined {
    return this.status === TOO_MANY_REQUESTS ? undefined : this.oauthError;
  }
}

const TOO_MANY_REQUESTS = 429;

const KNOWN_CHARACTERS = /^[\w.-]{1,64}$/;

/**
 * Returns an error code of the provider as it may be shown, with known characters only
 * (docs/adr/0012-logins-in-the-browser.md).
 */
export function shownErrorCode(code: string): string {
  return KNOWN_CHARACTERS.test(code) ? code : 'unrecognised';
}
