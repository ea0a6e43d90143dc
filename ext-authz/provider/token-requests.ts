import {
  authorizationCodeGrant,
  type ClientAuth,
  type Configuration,
  clientCredentialsGrant,
  genericGrantRequest,
  refreshTokenGrant,
  type TokenEndpointResponse,
} from 'openid-client';
import { callbackUrl } from './authorization-url.ts';
import { clientFault, explained } from './explained.ts';
import type { HttpClient } from './http-client.ts';
import { callLibrary } from './library-call.ts';
import type { CodeExchange } from './provider.ts';
import { ProviderError } from './provider-error.ts';
import { servesNobody } from './provider-health.ts';
import type { ProviderListener } from './provider-listener.ts';
import { endpointOf, type ProviderMetadata } from './provider-metadata.ts';
import type { ClientAuthentication } from './settings.ts';
import { type RawTokens, tokenReader } from './token-answer.ts';

/** What asks the token endpoint. */
export type TokenRequester = {
  readonly client: HttpClient;
  readonly metadata: ProviderMetadata;
  readonly clientID: string | undefined;
  readonly authentication: ClientAuth;
  /** The method by the Filter's settings, for errors. */
  readonly method: ClientAuthentication['method'];
  /** Hears whether the endpoint serves anybody, and accepts the client. */
  readonly heard?: ProviderListener | undefined;
  readonly signal: AbortSignal;
};

type Grant = (config: Configuration) => Promise<TokenEndpointResponse>;

/**
 * Makes one request of the token endpoint. Its ID token is not yet validated. Rejects with a
 * ProviderError.
 */
export async function requestTokens(requester: TokenRequester, grant: Grant): Promise<RawTokens> {
  endpointOf(requester.metadata, 'token_endpoint');
  const { read, toTokens } = tokenReader();
  const call = { ...requester, what: 'the token endpoint', read };
  const { heard, metadata, method } = requester;
  const granted = callLibrary(call, grant).then(toTokens);
  const tokens = await granted.catch((error: unknown) => {
    const fault = clientFault(error, method, metadata);
    heard?.('tokens', error instanceof ProviderError && servesNobody(error) ? error : undefined);
    if (fault !== 'unknown') heard?.('client', fault);
    throw explained(error, method, metadata);
  });
  heard?.('tokens', undefined);
  heard?.('client', undefined);
  return tokens;
}

/** Builds the grant of RFC 6749 section 4.1.3 and RFC 7636 section 4.5. `iss` is checked before. */
export function codeGrant({ code, codeVerifier, iss, redirectUri }: CodeExchange): Grant {
  const callback = callbackUrl(redirectUri);
  callback.search = new URLSearchParams({ code, ...(iss !== undefined && { iss }) }).toString();
  return config => authorizationCodeGrant(config, callback, { pkceCodeVerifier: codeVerifier });
}

export function refreshGrant(refreshToken: string): Grant {
  return config => refreshTokenGrant(config, refreshToken);
}

export function passwordGrant(username: string, password: string, scope: readonly string[]): Grant {
  return config =>
    genericGrantRequest(config, 'password', { username, password, ...scopeParameter(scope) });
}

export function credentialsGrant(scope: readonly string[]): Grant {
  return config => clientCredentialsGrant(config, scopeParameter(scope));
}

/** Returns the values sorted and without duplicates, and only when there is one. */
function scopeParameter(scope: readonly string[]): { scope?: string } {
  return scope.length === 0 ? {} : { scope: [...new Set(scope)].sort().join(' ') };
}
