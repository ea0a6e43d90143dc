import { ProviderError } from './provider-error.ts';
import type { ProviderMetadata } from './provider-metadata.ts';
import type { ClientAuthentication } from './settings.ts';

type Method = ClientAuthentication['method'];

/** OpenID Connect Core section 9 */
const METHODS: Readonly<Record<Method, readonly string[]>> = {
  HeaderPassword: ['client_secret_basic'],
  BodyPassword: ['client_secret_post'],
  JWTAssertion: ['client_secret_jwt', 'private_key_jwt'],
};

/**
 * Returns a refusal of the token endpoint with the settings of the Filter that it may come from.
 * Anything else stays as it is.
 */
export function explained(error: unknown, method: Method, metadata: ProviderMetadata): unknown {
  if (!(error instanceof ProviderError) || error.code !== 'oauth_error') return error;
  const hint = hintFor(error.oauthError ?? '', method, metadata);
  return hint === undefined
    ? error
    : new ProviderError(error.code, `${error.message}. See ${hint}`, {
        ...(error.oauthError !== undefined && { oauthError: error.oauthError }),
        ...(error.retryAfter !== undefined && { retryAfter: error.retryAfter }),
        ...(error.status !== undefined && { status: error.status }),
      });
}

/**
 * Returns what a failed request of the token endpoint says of the client that made it. It leaves
 * out the provider's own words, which may be about a user.
 * @returns undefined when the client was accepted
 */
export function clientFault(
  error: unknown,
  method: Method,
  metadata: ProviderMetadata,
): ProviderError | undefined | 'unknown' {
  const code = error instanceof ProviderError ? error.refusal : undefined;
  // The client is judged before what it asks for (RFC 6749 section 5.2).
  if (code === 'invalid_grant') return undefined;
  if (code === undefined || !ABOUT_CLIENT.has(code)) return 'unknown';
  const place = `the token endpoint of ${metadata.issuer}`;
  return new ProviderError(
    'oauth_error',
    `${place} refuses the client with ${code}. See ${hintFor(code, method, metadata)}`,
  );
}

const ABOUT_CLIENT: ReadonlySet<string> = new Set([
  ...['invalid_client', 'invalid_client_id', 'unauthorized_client', 'unsupported_grant_type'],
]);

function hintFor(code: string, method: Method, metadata: ProviderMetadata): string | undefined {
  if (code === 'invalid_client' || code === 'invalid_client_id')
    return `clientID, secret and clientAuthentication.method, which is ${method}${otherMethods(method, metadata)}`;
  if (code === 'unauthorized_client' || code === 'unsupported_grant_type')
    return 'grantType, and whether the provider lets this clientID use it';
  return code === 'invalid_scope' ? '`scope` of the FilterPolicy' : undefined;
}

/**
 * Returns what the provider accepts instead, where it says so. Absent means `client_secret_basic`
 * (OpenID Connect Discovery section 3).
 */
function otherMethods(
  method: Method,
  { token_endpoint_auth_methods_supported: supported }: ProviderMetadata,
): string {
  if (supported === undefined || METHODS[method].some(name => supported.includes(name))) return '';
  const names = (Object.keys(METHODS) as Method[]).filter(other =>
    METHODS[other].some(name => supported.includes(name)),
  );
  return names.length === 0 ? '' : `, while the provider accepts ${names.join(' and ')}`;
}
