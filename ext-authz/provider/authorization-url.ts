import { calculatePKCECodeChallenge } from 'openid-client';

export type AuthorizationRequest = {
  readonly redirectUri: string;
  /** In any order, with or without duplicates. */
  readonly scope: readonly string[];
  readonly state: string;
  readonly nonce: string;
  /** PKCE (RFC 7636), 43 to 128 unreserved characters. */
  readonly codeVerifier: string;
  /** The `extraAuthorizationParameters`. They replace none of the gateway's. */
  readonly extra: { readonly [name: string]: string };
};

/**
 * Returns where the browser is sent to log in (OpenID Connect Core section 3.1.2.1,
 * docs/adr/0013-providers.md). A query that the endpoint has stays (RFC 6749 section 3.1). No
 * parameter is present twice.
 */
export async function authorizationUrl(
  endpoint: string,
  clientID: string,
  request: AuthorizationRequest,
): Promise<string> {
  const { extra, nonce, redirectUri, scope, state } = request;
  const own = {
    response_type: 'code',
    client_id: clientID,
    redirect_uri: callbackUrl(redirectUri).href,
    scope: [...new Set(scope)].sort().join(' '),
    state,
    nonce,
    code_challenge: await calculatePKCECodeChallenge(request.codeVerifier),
    code_challenge_method: 'S256',
  };
  const names = new Set(Object.keys(own));
  const others = Object.entries(extra).filter(([name]) => !names.has(name.toLowerCase()));
  return withParameters(endpoint, [...Object.entries(own), ...others]);
}

/**
 * Returns the callback as it is sent both to the authorization and to the token endpoint, which
 * compare it as text.
 */
export function callbackUrl(redirectUri: string): URL {
  return new URL(redirectUri);
}

/** Returns the URL with each parameter once, whatever its query had by that name. */
export function withParameters(
  url: string,
  parameters: readonly (readonly [string, string])[],
): string {
  const result = new URL(url);
  for (const [name, value] of parameters) result.searchParams.set(name, value);
  return result.href;
}
