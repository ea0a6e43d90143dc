import type { Change } from '#ext-authz/http/filter-decision.ts';
import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import type { IdToken } from '#ext-authz/provider/id-token.ts';

/** The tokens of a session. */
export type SessionTokens = { readonly accessToken: string; readonly idToken: IdToken };

/**
 * The judgement of an access token: it is valid, it is not, or it is but not for what the rule asks
 * for. `check` names the check in plain words.
 */
export type TokenVerdict =
  | { readonly kind: 'valid' }
  | { readonly kind: 'invalid' | 'insufficient_scope'; readonly check: string };

/**
 * The half of the filter that is a resource server (docs/reference/kinds/filter.md), for one
 * Filter. An answer without a promise saves a turn of the event loop.
 */
export type ResourceServer = {
  /**
   * Judges an access token for the scope of a rule. Rejects with a ProviderError when the provider
   * must be asked and cannot be.
   */
  readonly validate: (
    tokens: SessionTokens,
    scope: readonly string[],
    signal: () => AbortSignal,
  ) => TokenVerdict | Promise<TokenVerdict>;
  /** Returns `Authorization` and `injectRequestHeaders`. Throws when a template fails. */
  readonly change: (tokens: SessionTokens, request: HttpRequest) => Change;
  /**
   * Returns why no request has room for the access token.
   * @returns undefined when a request may have
   */
  readonly roomFault: (tokens: SessionTokens, request: HttpRequest) => string | undefined;
};

/** Tokens of any grant, some of which have no ID token. */
export type GrantedTokens = {
  readonly accessToken: string;
  readonly idToken: Pick<IdToken, 'raw' | 'claims'> | undefined;
};

/** A ResourceServer that also accepts tokens without an ID token. */
export type AnyResourceServer = ResourceServer & {
  readonly validate: (
    tokens: GrantedTokens,
    scope: readonly string[],
    signal: () => AbortSignal,
  ) => TokenVerdict | Promise<TokenVerdict>;
  readonly change: (tokens: GrantedTokens, request: HttpRequest) => Change;
};
