/**
 * A client as the provider registers it (OpenID Connect Dynamic Client Registration 1.0 section 2).
 */
export type RegisteredClient = {
  readonly client_id: string;
  readonly client_name: string;
  readonly client_secret: string;
  readonly token_endpoint_auth_method: 'client_secret_basic';
  readonly grant_types: readonly string[];
  readonly response_types: readonly string[];
  readonly redirect_uris: readonly string[];
  readonly post_logout_redirect_uris?: readonly string[];
  /** The most that it may ask for, separated by spaces. */
  readonly scope: string;
};

/** The path to which the provider sends the browser back, and the demo's page after logout. */
const CALLBACK = '/.gateway/oauth2/redirection-endpoint';
const LOGGED_OUT = '/account/logged-out';

const EVERYTHING = 'openid offline_access profile email users:read users:admin';

/**
 * Returns one client for each grant of the gateway's OAuth2 filter. `origins` are those under which
 * browsers know the gateway.
 */
export function sampleClients(origins: readonly string[]): readonly RegisteredClient[] {
  return [
    {
      ...named('website', 'The website behind the gateway'),
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      redirect_uris: origins.map(origin => `${origin}${CALLBACK}`),
      post_logout_redirect_uris: origins.map(origin => `${origin}${LOGGED_OUT}`),
      scope: EVERYTHING,
    },
    {
      ...named('nightly-report', 'A program'),
      ...withoutBrowser('client_credentials', 'users:read'),
    },
    { ...named('terminal', 'A terminal'), ...withoutBrowser('password', EVERYTHING) },
  ];
}

type Identity = Pick<
  RegisteredClient,
  'client_id' | 'client_name' | 'client_secret' | 'token_endpoint_auth_method'
>;

/** The secrets are as public as the users' passwords. */
function named(id: string, name: string): Identity {
  return {
    client_id: id,
    client_name: name,
    client_secret: `${id}-sample-secret`,
    token_endpoint_auth_method: 'client_secret_basic',
  };
}

function withoutBrowser(grant: string, scope: string): Omit<RegisteredClient, keyof Identity> {
  return { grant_types: [grant], response_types: [], redirect_uris: [], scope };
}
