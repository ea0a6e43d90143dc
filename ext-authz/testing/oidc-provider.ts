import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { type Client, type Context, errors, Provider } from 'oidc-provider';
import { serveInteraction } from './login-page.ts';
import { memoryAdapter } from './memory-adapter.ts';
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
  /** Clients whose access tokens are JWTs (RS256); those of the others are opaque, for userinfo. */
  readonly jwtClients?: readonly string[];
  /** Scope values beside `openid`, `offline_access`, `profile` and `email`. */
  readonly scopes?: readonly string[];
  /** Seconds. Default 3,600. */
  readonly accessTokenTtl?: number;
  /** Default: any free one on 127.0.0.1. */
  readonly port?: number;
  /** https with this certificate; default http. */
  readonly certificate?: { readonly cert: string; readonly key: string };
  /** Private signing keys; default: one new RSA key. */
  readonly signingKeys?: readonly JWK[];
};

/** A certified OpenID provider in this process. */
export type OidcProvider = {
  readonly issuer: string;
  readonly close: () => Promise<void>;
};

/** What a JWT access token is for. */
export const RESOURCE = 'urn:gateway:upstream';

/** Starts npm's `oidc-provider` with a login page, consent without asking, rotated refresh tokens for whoever may have them, and the password grant. */
export async function startOidcProvider(options: OidcProviderOptions): Promise<OidcProvider> {
  const server = options.certificate === undefined ? createServer() : createTlsServer(options.certificate);
  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const issuer = `${options.certificate === undefined ? 'http' : 'https'}://127.0.0.1:${port}`;
  const provider = new Provider(issuer, configurationOf(options, await signingKeysOf(options)));
  provider.registerGrantType('password', passwordHandler(options.users), ['username', 'password', 'scope']);
  const answer = provider.callback();
  const grantAll = (accountId: string, clientId: string) => saveGrant(provider, options, accountId, clientId);
  server.on('request', (request, response) => {
    const done = request.url?.startsWith('/interaction/')
      ? serveInteraction(provider, options.users, grantAll, request, response)
      : answer(request, response);
    done.catch(() => response.destroy());
  });
  const close = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
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
  const { accessTokenTtl: ttl = 3_600, clients, jwtClients = [], users } = options;
  const resource = { scope: scopesOf(options).join(' '), accessTokenFormat: 'jwt', accessTokenTTL: ttl };
  return {
    adapter: memoryAdapter(),
    clients,
    jwks: { keys },
    scopes: scopesOf(options),
    claims: { openid: ['sub'], profile: ['name'], email: ['email', 'email_verified'] },
    cookies: { keys: [randomBytes(32).toString('hex')] },
    ttl: {
      AccessToken: ttl,
      ClientCredentials: ttl,
      IdToken: 3_600,
      RefreshToken: 86_400,
      Interaction: 600,
      Grant: 86_400,
      Session: 86_400,
    },
    enabledJWA: { clientAuthSigningAlgValues: [...HMAC, ...ASYMMETRIC], idTokenSigningAlgValues: ASYMMETRIC },
    pkce: { required: () => true },
    findAccount: (_context: Context, sub: string) => accountOf(users, sub),
    interactions: { url: (_context: Context, { uid }: { uid: string }) => `/interaction/${uid}` },
    loadExistingGrant: (context: Context) => loadGrant(context, options),
    issueRefreshToken: (_context: Context, client: Client) => client.grantTypes.includes('refresh_token'),
    expiresWithSession: () => false,
    rotateRefreshToken: true,
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      rpInitiatedLogout: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: (_context: Context, client: Client) =>
          jwtClients.includes(client.clientId) ? RESOURCE : undefined,
        getResourceServerInfo: () => ({ ...resource, audience: RESOURCE, jwt: { sign: { alg: 'RS256' } } }),
        useGrantedResource: () => true,
      },
    },
  };
}

const HMAC = ['HS256', 'HS384', 'HS512'];
const ASYMMETRIC = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512'];

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

async function loadGrant({ oidc }: Context, options: OidcProviderOptions): Promise<object | undefined> {
  const { client, provider, result, session } = oidc;
  const known = result?.consent?.grantId ?? session?.grantIdFor(client.clientId);
  return provider.Grant.find(
    known ?? (await saveGrant(provider, options, session?.accountId ?? '', client.clientId)),
  );
}

/** RFC 6749 section 4.3 */
function passwordHandler(users: readonly TestUser[]) {
  return async (context: Context): Promise<void> => {
    const { client, params, provider } = context.oidc;
    const user = users.find(
      ({ password, username }) => username === params.username && password === params.password,
    );
    if (user === undefined) throw new errors.InvalidGrant('wrong name or password');
    const grant = new provider.Grant({ accountId: user.username, clientId: client.clientId });
    grant.addOIDCScope(params.scope ?? '');
    const grantId = await grant.save();
    const token = new provider.AccessToken({
      ...{ accountId: user.username, client, grantId, gty: 'password' },
      ...(params.scope !== undefined && { scope: params.scope }),
    });
    context.oidc.entity('AccessToken', token);
    const accessToken = await token.save();
    context.body = {
      access_token: accessToken,
      expires_in: token.expiration,
      token_type: 'Bearer',
      scope: token.scope,
    };
  };
}
