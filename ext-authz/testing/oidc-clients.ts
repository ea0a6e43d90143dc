import type { JWK } from 'jose';

/** A client as the provider registers it (OpenID Connect Dynamic Client Registration section 2). */
export type RegisteredClient = {
  readonly client_id: string;
  readonly client_secret?: string;
  readonly token_endpoint_auth_method: string;
  readonly token_endpoint_auth_signing_alg?: string;
  readonly grant_types: readonly string[];
  readonly response_types: readonly string[];
  readonly redirect_uris: readonly string[];
  readonly post_logout_redirect_uris?: readonly string[];
  readonly jwks?: { readonly keys: readonly JWK[] };
  readonly scope?: string;
  readonly id_token_signed_response_alg?: string;
  readonly userinfo_signed_response_alg?: string;
};

type Secret = { readonly client_id: string; readonly client_secret?: string };

/** A client for grantType AuthorizationCode, with refresh tokens. */
export function webClient(
  secret: Secret,
  redirectUris: readonly string[],
  method = 'client_secret_basic',
): RegisteredClient {
  return {
    ...secret,
    token_endpoint_auth_method: method,
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    redirect_uris: redirectUris,
  };
}

/** A client for grantType ClientCredentials. */
export function machineClient(secret: Secret, method = 'client_secret_basic'): RegisteredClient {
  return withoutBrowser(secret, method, ['client_credentials']);
}

/** A client for grantType Password, which the provider has as an extension of ours. */
export function passwordClient(secret: Secret, method = 'client_secret_basic'): RegisteredClient {
  return withoutBrowser(secret, method, ['password']);
}

function withoutBrowser(
  secret: Secret,
  method: string,
  grants: readonly string[],
): RegisteredClient {
  return {
    ...secret,
    token_endpoint_auth_method: method,
    grant_types: grants,
    response_types: [],
    redirect_uris: [],
  };
}
