import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { type Context, type Grant, Provider } from 'oidc-provider';
import { listenLocally } from '#envoy/e2e/local-server.ts';
import { baseConfiguration } from '#identity-provider/base-configuration.ts';
import {
  PASSWORD_PARAMETERS,
  type PasswordGrant,
  passwordGrant,
} from '#identity-provider/password-grant.ts';
import { recordsInMemory } from '#identity-provider/records.ts';
import {
  PUBLIC_KEY_ALGORITHMS,
  SHARED_SECRET_ALGORITHMS,
} from '#resources/words/signature-algorithms.ts';
import { serveInteraction } from './login-page.ts';
import type { RegisteredClient } from './oidc-clients.ts';

export type TestUser = {
  /** Also the `sub`. */
  readonly username: string;
  readonly password: string;
  /** Further claims, such as `email`. */
  readonly claims?: { readonly [name: string]: unknown };
};

export type OidcProviderOptions = {
  readonly clients: readonly RegisteredClient[];
  readonly users: readonly TestUser[];
  /**
   * The clients whose access tokens are JWTs (RS256). Those of the others are opaque, for userinfo.
   */
  readonly jwtClients?: readonly string[];
  /** Scope values beside `openid`, `offline_access`, `profile` and `email`. */
  readonly scopes?: readonly string[];
  /** Seconds. Default 3,600. */
  readonly accessTokenTtl?: number;
  /** Default: any free one on 127.0.0.1. */
  readonly port?: number;
  /** Serves https with this certificate. Default: http. */
  readonly certificate?: { readonly cert: string; readonly key: string };
  /** Private signing keys. Default: one new RSA key. */
  readonly signingKeys?: readonly JWK[];
};

/** A certified OpenID provider in this process. */
export type OidcProvider = {
  readonly issuer: string;
  readonly close: () => Promise<void>;
};

/** What a JWT access token is for. */
export const RESOURCE = 'urn:gateway:upstream';

/**
 * Starts npm's `oidc-provider` with a login page, consent without asking, and the password grant.
 * Refresh tokens are rotated, for clients that may have them.
 */
export async function startOidcProvider(options: OidcProviderOptions): Promise<OidcProvider> {
  const server =
    options.certificate === undefined ? createServer() : createTlsServer(options.certificate);
  // A busy thread would end connections on which a request is already under way.
  server.keepAliveTimeout = 0;
  const { close, port } = await listenLocally(server, options.port);
  const issuer = `${options.certificate === undefined ? 'http' : 'https'}://127.0.0.1:${port}`;
  const provider = new Provider(issuer, configurationOf(options, await signingKeysOf(options)));
  const grantOf = (context: Context) => passwordGrantOf(context, options.users);
  provider.registerGrantType('password', passwordGrant(grantOf), PASSWORD_PARAMETERS);
  const answer = provider.callback();
  const grantAll = (accountId: string, clientId: string) =>
    saveGrant(provider, options, accountId, clientId);
  server.on('request', (request, response) => {
    const done = request.url?.startsWith('/interaction/')
      ? serveInteraction(provider, options.users, grantAll, request, response)
      : answer(request, response);
    done.catch(() => response.destroy());
  });
  return { issuer, close };
}

async function signingKeysOf({ signingKeys }: OidcProviderOptions): Promise<readonly JWK[]> {
  if (signingKeys !== undefined) return signingKeys;
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  return [{ ...(await exportJWK(privateKey)), kid: 'first', use: 'sig', alg: 'RS256' }];
}

function scopesOf({ scopes = [] }: OidcProviderOptions): readonly string[] {
  return ['openid', 'offline_access', 'profile', 'email', ...scopes];
}

function configurationOf(options: OidcProviderOptions, keys: readonly JWK[]): object {
  const { accessTokenTtl = 3_600, clients, jwtClients = [], users } = options;
  const base = baseConfiguration({
    // A bench has more sessions than a sample.
    records: recordsInMemory(Date.now, Number.POSITIVE_INFINITY),
    clients,
    signingKeys: keys,
    cookieKey: randomBytes(32).toString('hex'),
    scopes: scopesOf(options),
    accessTokenSeconds: accessTokenTtl,
    accountOf: username => accountOf(users, username),
    loadGrant: context => loadGrant(context, options),
    interaction: '/interaction/',
    audienceOf: ({ clientId }) => (jwtClients.includes(clientId) ? RESOURCE : undefined),
  });
  return {
    ...base,
    claims: { openid: ['sub'], profile: ['name'], email: ['email', 'email_verified'] },
    enabledJWA: {
      clientAuthSigningAlgValues: [...HMAC, ...ASYMMETRIC],
      idTokenSigningAlgValues: ASYMMETRIC,
    },
  };
}

const HMAC = SHARED_SECRET_ALGORITHMS;
const ASYMMETRIC = PUBLIC_KEY_ALGORITHMS;

function accountOf(users: readonly TestUser[], sub: string): object | undefined {
  const user = users.find(({ username }) => username === sub);
  return user && { accountId: sub, claims: () => ({ ...user.claims, sub }) };
}

async function saveGrant(
  provider: Provider,
  options: OidcProviderOptions,
  accountId: string,
  clientId: string,
): Promise<string> {
  const grant = new provider.Grant({ accountId, clientId });
  grant.addOIDCScope(scopesOf(options).join(' '));
  grant.addResourceScope(RESOURCE, scopesOf(options).join(' '));
  return grant.save();
}

async function loadGrant(
  { oidc }: Context,
  options: OidcProviderOptions,
): Promise<Grant | undefined> {
  const { client, provider, result, session } = oidc;
  const known = result?.consent?.grantId ?? session?.grantIdFor(client.clientId);
  return provider.Grant.find(
    known ?? (await saveGrant(provider, options, session?.accountId ?? '', client.clientId)),
  );
}

/** Whatever is asked for is granted, for userinfo. */
async function passwordGrantOf(
  { oidc }: Context,
  users: readonly TestUser[],
): Promise<PasswordGrant | undefined> {
  const { client, params, provider } = oidc;
  const user = users.find(
    ({ password, username }) => username === params.username && password === params.password,
  );
  if (user === undefined) return undefined;
  const grant = new provider.Grant({ accountId: user.username, clientId: client.clientId });
  grant.addOIDCScope(params.scope ?? '');
  return { accountId: user.username, grantId: await grant.save(), scope: params.scope };
}
