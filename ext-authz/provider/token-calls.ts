import { type Adapter, required } from './adapter.ts';
import { checkIssuer } from './browser-calls.ts';
import { broughtAuthentication } from './filter-client.ts';
import { type IdToken, validateIdToken } from './id-token.ts';
import type { JsonObject } from './json-answer.ts';
import type { CodeExchange, Provider } from './provider.ts';
import { ProviderError } from './provider-error.ts';
import type { ProviderAspect } from './provider-listener.ts';
import type { ProviderMetadata } from './provider-metadata.ts';
import type { RawTokens, TokenSet } from './token-answer.ts';
import {
  codeGrant,
  credentialsGrant,
  passwordGrant,
  refreshGrant,
  requestTokens,
} from './token-requests.ts';
import { checkSizes, isStorable } from './token-size.ts';

/** Opens what asks the token endpoint. */
export function tokenCalls(
  adapter: Adapter,
): Pick<Provider, 'exchangeCode' | 'refresh' | 'password' | 'clientCredentials'> {
  const { documents, heard, http: client, own, settings } = adapter;
  const { method } = settings.clientAuthentication;
  return {
    exchangeCode: (exchange, signal) => exchangeCode(adapter, exchange, signal),
    refresh: async ({ keep, previous, refreshToken }, signal) => {
      const metadata = await documents.metadata(signal);
      const raw = await requestTokens(
        { client, metadata, ...required(own), method, heard, signal },
        refreshGrant(refreshToken),
      );
      return withIdToken(raw, adapter, metadata, { previous }, signal).catch(
        async (error: unknown) => {
          const isJudged = error instanceof ProviderError && error.code === 'invalid_id_token';
          const { refreshToken: rotated } = raw;
          if (!isJudged && rotated !== undefined && isStorable(rotated)) await keep?.(rotated);
          throw error;
        },
      );
    },
    password: async ({ password, scope, username }, signal) => {
      const metadata = await documents.metadata(signal);
      const raw = await requestTokens(
        { client, metadata, ...required(own), method, heard, signal },
        passwordGrant(username, password, scope),
      );
      return withIdToken(raw, adapter, metadata, {}, signal);
    },
    clientCredentials: async ({ credentials, scope }, signal) => {
      const metadata = await documents.metadata(signal);
      const authentication = broughtAuthentication(credentials, settings);
      const requester = {
        client,
        metadata,
        clientID: credentials.clientID,
        authentication,
        method,
        // It is not the Filter's own client.
        heard: (aspect: ProviderAspect, error: ProviderError | undefined) =>
          aspect === 'tokens' && heard?.(aspect, error),
        signal,
      };
      const raw = await requestTokens(requester, credentialsGrant(scope));
      checkHeard(raw, metadata, heard);
      const { idToken, ...tokens } = raw;
      return tokens;
    },
  };
}

async function exchangeCode(
  adapter: Adapter,
  exchange: CodeExchange,
  signal: AbortSignal,
): Promise<TokenSet & { readonly idToken: IdToken }> {
  const { documents, heard, http: client, own, settings } = adapter;
  const { method } = settings.clientAuthentication;
  const metadata = await documents.metadata(signal);
  checkIssuer(metadata, exchange.iss);
  const raw = await requestTokens(
    { client, metadata, ...required(own), method, heard, signal },
    codeGrant(exchange),
  );
  const tokens = await withIdToken(raw, adapter, metadata, { nonce: exchange.nonce }, signal);
  const { idToken } = tokens;
  if (idToken !== undefined) return { ...tokens, idToken };
  const error = new ProviderError(
    'no_id_token',
    `the answer of ${metadata.issuer} has no ID token`,
  );
  heard?.('idTokens', error);
  throw error;
}

/** Tells the operator of tokens that are too long. */
function checkHeard(raw: RawTokens, metadata: ProviderMetadata, heard: Adapter['heard']): void {
  try {
    checkSizes(raw, metadata);
  } catch (error) {
    if (error instanceof ProviderError) heard?.('tokens', error);
    throw error;
  }
}

async function withIdToken(
  granted: RawTokens,
  { documents, heard, now, own }: Adapter,
  metadata: ProviderMetadata,
  expected: { readonly nonce?: string; readonly previous?: JsonObject },
  signal: AbortSignal,
): Promise<TokenSet> {
  checkHeard(granted, metadata, heard);
  const { idToken: raw, ...tokens } = granted;
  if (raw === undefined) return tokens;
  const keys = await documents.keys(signal);
  const { clientID } = required(own);
  const { accessToken } = tokens;
  const idToken = await validateIdToken(raw, {
    ...expected,
    metadata,
    keys,
    clientID,
    accessToken,
    now: now(),
    signal,
  }).catch((error: unknown) => {
    if (error instanceof ProviderError && error.lasting) heard?.('idTokens', error);
    throw error;
  });
  heard?.('idTokens', undefined);
  return { ...tokens, idToken };
}
