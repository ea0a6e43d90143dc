import { type Client, type Context, Provider } from 'oidc-provider';
import { sampleClients } from './clients.ts';
import { API, loadGrant, OPENID_SCOPES } from './grants.ts';
import type { ProviderKeys } from './keys.ts';
import { PAGE_HEADERS } from './page.ts';
import { errorPage, loggedOutPage, logoutPage } from './pages.ts';
import { PASSWORD_PARAMETERS, passwordGrant } from './password-grant.ts';
import { recordsInMemory } from './records.ts';
import { API_SCOPES, userNamed } from './sample-users.ts';

export type ProviderOptions = {
  readonly issuer: string;
  readonly keys: ProviderKeys;
  /** Under which browsers know the gateway. */
  readonly origins: readonly string[];
  /** Milliseconds since 1970. */
  now(): number;
};

/** Where the library sends a browser that has to log in. */
export const INTERACTION = '/interaction/';

const SCOPES: readonly string[] = [...OPENID_SCOPES, ...API_SCOPES];
const MINUTE = 60;
const DAY = 24 * 60 * MINUTE;

/** Short, so that one can see the gateway refresh them. */
const ACCESS_TOKEN_SECONDS = 5 * MINUTE;

/** What an access token for the service is. RS256 is what resource servers expect (RFC 9068 section 2.1). */
const API_TOKENS = {
  scope: SCOPES.join(' '),
  audience: API,
  accessTokenTTL: ACCESS_TOKEN_SECONDS,
  accessTokenFormat: 'jwt',
  jwt: { sign: { alg: 'RS256' } },
};

/** npm's certified OpenID provider with the sample's users and clients: PKCE always, JWT access tokens, refresh tokens used once, logout. */
export function createProvider(options: ProviderOptions): Provider {
  const provider = new Provider(options.issuer, configurationOf(options));
  provider.registerGrantType('password', passwordGrant(API_TOKENS), PASSWORD_PARAMETERS);
  return provider;
}

function configurationOf({ keys, now, origins }: ProviderOptions): object {
  return {
    adapter: recordsInMemory(now),
    clients: sampleClients(origins),
    jwks: { keys: [keys.signing] },
    cookies: { keys: [keys.cookies] },
    scopes: SCOPES,
    responseTypes: ['code'],
    claims: { openid: ['sub'], profile: ['name'], email: ['email'] },
    conformIdTokenClaims: false, // the ID token itself says the name, so that headers can be made of it
    pkce: { required: () => true },
    ttl: {
      AccessToken: ACCESS_TOKEN_SECONDS,
      ClientCredentials: ACCESS_TOKEN_SECONDS,
      IdToken: 60 * MINUTE,
      RefreshToken: DAY,
      Interaction: 10 * MINUTE,
      Grant: DAY,
      Session: DAY,
    },
    findAccount: (_context: Context, username: string) => accountOf(username),
    loadExistingGrant: loadGrant,
    issueRefreshToken: (_context: Context, client: Client) => client.grantTypes.includes('refresh_token'),
    expiresWithSession: () => false,
    rotateRefreshToken: true,
    interactions: { url: (_context: Context, { uid }: { uid: string }) => `${INTERACTION}${uid}` },
    renderError: (context: Context, { error, error_description: text = '' }: ErrorText) =>
      send(context, errorPage(error, text)),
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: (context: Context, form: string) => send(context, logoutPage(form)),
        postLogoutSuccessSource: (context: Context) => send(context, loggedOutPage()),
      },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => API,
        getResourceServerInfo: () => API_TOKENS,
        useGrantedResource: () => true,
      },
    },
  };
}

type ErrorText = { readonly error: string; readonly error_description?: string };

function accountOf(username: string): object | undefined {
  const user = userNamed(username);
  if (user === undefined) return undefined;
  const { email, name } = user;
  return { accountId: username, claims: () => ({ sub: username, name, email }) };
}

async function send(context: Context, text: string): Promise<void> {
  context.set(PAGE_HEADERS);
  context.body = text;
}
