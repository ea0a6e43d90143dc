import { authorizationUrl, withParameters } from './authorization-url.ts';
import { openHttpClient } from './http-client.ts';
import { type IdToken, validateIdToken } from './id-token.ts';
import type { JsonObject } from './json-answer.ts';
import { type AssertionSources, broughtAuthentication, type OAuthClient, ownClient } from './own-client.ts';
import type { CodeExchange, Provider } from './provider.ts';
import { openDocuments } from './provider-documents.ts';
import { ProviderError } from './provider-error.ts';
import { endpointOf, type ProviderMetadata } from './provider-metadata.ts';
import type { ProviderSettings } from './settings.ts';
import { verifySignature } from './signed-jwt.ts';
import type { RawTokens, TokenSet } from './token-answer.ts';
import { codeGrant, credentialsGrant, passwordGrant, refreshGrant, requestTokens } from './token-requests.ts';
import { requestUserinfo } from './userinfo.ts';

/**
 * A Filter's provider over HTTP, by openid-client and jose. Nothing is asked before the first call. Throws a TypeError when the secret
 * does not fit signingMethod (`signingFault` of resources tells the operator before).
 */
export function openProvider(settings: ProviderSettings, sources: AssertionSources): Provider {
  const { now } = sources;
  const http = openHttpClient(settings);
  const documents = openDocuments(http, settings.authorizationURL, { maxStale: settings.maxStale, now });
  const own = ownClient(settings, sources);
  const adapter = { settings, http, documents, own, now };
  return {
    metadata: documents.metadata,
    keySet: async signal => (await documents.keys(signal)).get(signal),
    knownKeySet: documents.knownKeySet,
    verify: async (jwt, algorithms, signal) =>
      verifySignature(jwt, algorithms, await documents.keys(signal), signal),
    ...browserCalls(adapter),
    ...tokenCalls(adapter),
    userinfo: async ({ accessToken, subject }, signal) =>
      requestUserinfo({
        ...{ client: http, accessToken, subject, signal },
        metadata: await documents.metadata(signal),
        keys: () => documents.keys(signal),
        clientID: settings.clientID,
        now: now(),
      }),
    close: http.close,
  };
}

type Adapter = {
  readonly settings: ProviderSettings;
  readonly http: ReturnType<typeof openHttpClient>;
  readonly documents: ReturnType<typeof openDocuments>;
  readonly own: OAuthClient | undefined;
  readonly now: () => number;
};

function browserCalls({
  documents,
  own,
}: Adapter): Pick<Provider, 'authorizationUrl' | 'checkIssuer' | 'endSessionUrl'> {
  return {
    authorizationUrl: async (request, signal) => {
      const { clientID } = required(own);
      return authorizationUrl(
        endpointOf(await documents.metadata(signal), 'authorization_endpoint'),
        clientID,
        request,
      );
    },
    checkIssuer: async (iss, signal) => checkIssuer(await documents.metadata(signal), iss),
    endSessionUrl: async ({ idTokenHint, postLogoutRedirectURI, state }, signal) => {
      const { end_session_endpoint: endpoint } = await documents.metadata(signal);
      if (endpoint === undefined) return undefined;
      return withParameters(endpoint, [
        ['id_token_hint', idTokenHint],
        ['client_id', required(own).clientID],
        ...(postLogoutRedirectURI === undefined
          ? []
          : [['post_logout_redirect_uri', postLogoutRedirectURI] as const]),
        ...(state === undefined ? [] : [['state', state] as const]),
      ]);
    },
  };
}

function tokenCalls(
  adapter: Adapter,
): Pick<Provider, 'exchangeCode' | 'refresh' | 'password' | 'clientCredentials'> {
  const { documents, http: client, own, settings } = adapter;
  return {
    exchangeCode: (exchange, signal) => exchangeCode(adapter, exchange, signal),
    refresh: async ({ previous, refreshToken }, signal) => {
      const metadata = await documents.metadata(signal);
      const raw = await requestTokens(
        { client, metadata, ...required(own), signal },
        refreshGrant(refreshToken),
      );
      return withIdToken(raw, adapter, metadata, { previous }, signal);
    },
    password: async ({ password, scope, username }, signal) => {
      const metadata = await documents.metadata(signal);
      const raw = await requestTokens(
        { client, metadata, ...required(own), signal },
        passwordGrant(username, password, scope),
      );
      return withIdToken(raw, adapter, metadata, {}, signal);
    },
    clientCredentials: async ({ credentials, scope }, signal) => {
      const metadata = await documents.metadata(signal);
      const authentication = broughtAuthentication(credentials, settings);
      const requester = { client, metadata, clientID: credentials.clientID, authentication, signal };
      const { idToken, ...tokens } = await requestTokens(requester, credentialsGrant(scope));
      return tokens;
    },
  };
}

async function exchangeCode(
  adapter: Adapter,
  exchange: CodeExchange,
  signal: AbortSignal,
): Promise<TokenSet & { readonly idToken: IdToken }> {
  const { documents, http: client, own } = adapter;
  const metadata = await documents.metadata(signal);
  checkIssuer(metadata, exchange.iss);
  const raw = await requestTokens({ client, metadata, ...required(own), signal }, codeGrant(exchange));
  const tokens = await withIdToken(raw, adapter, metadata, { nonce: exchange.nonce }, signal);
  const { idToken } = tokens;
  if (idToken === undefined)
    throw new ProviderError('no_id_token', `the answer of ${metadata.issuer} has no ID token`);
  return { ...tokens, idToken };
}

async function withIdToken(
  { idToken: raw, ...tokens }: RawTokens,
  { documents, now, own }: Adapter,
  metadata: ProviderMetadata,
  expected: { readonly nonce?: string; readonly previous?: JsonObject },
  signal: AbortSignal,
): Promise<TokenSet> {
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
  });
  return { ...tokens, idToken };
}

/** RFC 9207 section 2.4: compared as text. */
function checkIssuer(metadata: ProviderMetadata, iss: string | undefined): void {
  if (iss === metadata.issuer) return;
  if (iss === undefined && !metadata.authorization_response_iss_parameter_supported) return;
  const text =
    iss === undefined ? 'has no `iss`, which the provider promises' : 'has the `iss` of another issuer';
  throw new ProviderError('issuer_mismatch', `the callback ${text}; expected ${metadata.issuer}`);
}

function required(own: OAuthClient | undefined): OAuthClient {
  if (own === undefined) throw new TypeError('the Filter has no clientID and secret of its own');
  return own;
}
