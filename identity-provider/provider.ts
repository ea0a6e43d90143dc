import { type Context, Provider } from 'oidc-provider';
import { apiTokens, baseConfiguration } from './base-configuration.ts';
import { sampleClients } from './clients.ts';
import { API, loadGrant, OPENID_SCOPES, saveGrant } from './grants.ts';
import type { ProviderKeys } from './keys.ts';
import { PAGE_HEADERS } from './page.ts';
import { errorPage, loggedOutPage, logoutPage } from './pages.ts';
import { PASSWORD_PARAMETERS, type PasswordGrant, passwordGrant } from './password-grant.ts';
import { recordsInMemory } from './records.ts';
import { API_SCOPES, userNamed, userOf } from './sample-users.ts';

export type ProviderOptions = {
  readonly issuer: string;
  readonly keys: ProviderKeys;
  /** The origins under which browsers know the gateway. */
  readonly origins: readonly string[];
  /** Returns milliseconds since 1970. */
  now(): number;
};

/** Where the library sends a browser that has to log in. */
export const INTERACTION = '/interaction/';

const SCOPES: readonly string[] = [...OPENID_SCOPES, ...API_SCOPES];
/** Five minutes, so that the gateway can be seen to refresh them. */
const ACCESS_TOKEN_SECONDS = 5 * 60;

/**
 * Creates npm's certified OpenID provider with the sample's users and clients. It has PKCE always,
 * JWT access tokens, refresh tokens used once, and logout.
 */
export function createProvider(options: ProviderOptions): Provider {
  const provider = new Provider(options.issuer, configurationOf(options));
  provider.registerGrantType('password', passwordGrant(grantOf), PASSWORD_PARAMETERS);
  return provider;
}

function configurationOf({ keys, now, origins }: ProviderOptions): object {
  const base = baseConfiguration({
    records: recordsInMemory(now),
    clients: sampleClients(origins),
    signingKeys: [keys.signing],
    cookieKey: keys.cookies,
    scopes: SCOPES,
    accessTokenSeconds: ACCESS_TOKEN_SECONDS,
    accountOf,
    loadGrant,
    interaction: INTERACTION,
    audienceOf: () => API,
  });
  return {
    ...base,
    responseTypes: ['code'],
    claims: { openid: ['sub'], profile: ['name'], email: ['email'] },
    // the ID token itself has the name, so that headers can be made of it
    conformIdTokenClaims: false,
    renderError: (context: Context, { error, error_description: text = '' }: ErrorText) =>
      send(context, errorPage(error, text)),
    features: {
      ...base.features,
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: (context: Context, form: string) => send(context, logoutPage(form)),
        postLogoutSuccessSource: (context: Context) => send(context, loggedOutPage()),
      },
    },
  };
}

/** A user who logs in by name and password lets every client do what the user may. */
async function grantOf({ oidc }: Context): Promise<PasswordGrant | undefined> {
  const { client, params, provider } = oidc;
  const user = userOf(params.username, params.password);
  if (user === undefined) return undefined;
  const may: readonly string[] = [...OPENID_SCOPES, ...user.scopes];
  const scope = (params.scope ?? '').split(' ').filter(value => may.includes(value));
  const { jti: grantId } = await saveGrant(provider, user.username, client.clientId);
  const tokens = apiTokens({ scopes: SCOPES, accessTokenSeconds: ACCESS_TOKEN_SECONDS }, API);
  const resourceServer = new provider.ResourceServer(API, tokens);
  return { accountId: user.username, grantId, scope: scope.join(' '), resourceServer };
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
