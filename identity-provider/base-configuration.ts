import type { Client, Context, Grant } from 'oidc-provider';

export type ProviderBasis = {
  /** Returns a store for each kind of records. */
  readonly records: (kind: string) => object;
  readonly clients: readonly object[];
  readonly signingKeys: readonly object[];
  readonly cookieKey: string;
  readonly scopes: readonly string[];
  readonly accessTokenSeconds: number;
  readonly accountOf: (username: string) => object | undefined;
  /** Returns what the user of the session lets the client do. */
  readonly loadGrant: (context: Context) => Promise<Grant | undefined>;
  /** The path below which a browser logs in. */
  readonly interaction: string;
  /**
   * Returns the audience of a client's access tokens, which are JWTs.
   * @returns undefined when they are opaque
   */
  readonly audienceOf: (client: Client) => string | undefined;
};

const MINUTE = 60;
const DAY = 24 * 60 * MINUTE;

/**
 * Configures npm's certified OpenID provider, as every provider here. It has PKCE always, all
 * grants but the implicit one, and logout. Clients that may have refresh tokens get them, each used
 * once. Access tokens are JWTs (RS256, which resource servers expect: RFC 9068 section 2.1).
 */
export function baseConfiguration(basis: ProviderBasis) {
  const { accessTokenSeconds } = basis;
  return {
    adapter: basis.records,
    clients: basis.clients,
    jwks: { keys: basis.signingKeys },
    cookies: { keys: [basis.cookieKey] },
    scopes: basis.scopes,
    pkce: { required: () => true },
    ttl: {
      AccessToken: accessTokenSeconds,
      ClientCredentials: accessTokenSeconds,
      IdToken: 60 * MINUTE,
      RefreshToken: DAY,
      Interaction: 10 * MINUTE,
      Grant: DAY,
      Session: DAY,
    },
    findAccount: (_context: Context, username: string) => basis.accountOf(username),
    loadExistingGrant: basis.loadGrant,
    issueRefreshToken: (_context: Context, client: Client) =>
      client.grantTypes.includes('refresh_token'),
    expiresWithSession: () => false,
    rotateRefreshToken: true,
    interactions: {
      url: (_context: Context, { uid }: { uid: string }) => `${basis.interaction}${uid}`,
    },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      rpInitiatedLogout: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: (_context: Context, client: Client) => basis.audienceOf(client),
        getResourceServerInfo: (_context: Context, audience: string) => apiTokens(basis, audience),
        useGrantedResource: () => true,
      },
    },
  };
}

/** Describes the access tokens for `audience`. */
export function apiTokens(
  { accessTokenSeconds, scopes }: Pick<ProviderBasis, 'accessTokenSeconds' | 'scopes'>,
  audience: string,
): object {
  return {
    scope: scopes.join(' '),
    audience,
    accessTokenTTL: accessTokenSeconds,
    accessTokenFormat: 'jwt',
    jwt: { sign: { alg: 'RS256' } },
  };
}
