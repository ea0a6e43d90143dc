import { type Context, errors } from 'oidc-provider';

/** Parameters of the token request that belong to the grant. */
export const PASSWORD_PARAMETERS = ['username', 'password', 'scope'] as const;

/** What a user lets a client do. */
export type PasswordGrant = {
  readonly accountId: string;
  readonly grantId: string;
  readonly scope: string | undefined;
  /** What the token is for. When absent, it is for the provider's own userinfo endpoint. */
  readonly resourceServer?: object;
};

/**
 * Returns the Resource Owner Password Credentials grant (RFC 6749 section 4.3), which the library
 * leaves to its users. `grantOf` returns what these credentials grant, or undefined when they are
 * wrong.
 */
export function passwordGrant(grantOf: (context: Context) => Promise<PasswordGrant | undefined>) {
  return async (context: Context): Promise<void> => {
    const granted = await grantOf(context);
    if (granted === undefined) throw new errors.InvalidGrant('wrong name or password');
    const { client, provider } = context.oidc;
    const { scope, ...of } = granted;
    const token = new provider.AccessToken({
      ...of,
      client,
      gty: 'password',
      ...(scope !== undefined && scope !== '' && { scope }),
    });
    context.oidc.entity('AccessToken', token);
    context.body = {
      access_token: await token.save(),
      expires_in: token.expiration,
      token_type: 'Bearer',
      scope,
    };
  };
}
