import { type Context, errors } from 'oidc-provider';
import { API, OPENID_SCOPES, saveGrant } from './grants.ts';
import { userOf } from './sample-users.ts';

/** Parameters of the token request that belong to the grant. */
export const PASSWORD_PARAMETERS = ['username', 'password', 'scope'] as const;

/** The Resource Owner Password Credentials grant (RFC 6749 section 4.3), which the library leaves to its users. */
export function passwordGrant(api: object) {
  return async (context: Context): Promise<void> => {
    const { client, params, provider } = context.oidc;
    const user = userOf(params.username, params.password);
    if (user === undefined) throw new errors.InvalidGrant('wrong name or password');
    const may: readonly string[] = [...OPENID_SCOPES, ...user.scopes];
    const scope = (params.scope ?? '').split(' ').filter(value => may.includes(value));
    const grantId = (await saveGrant(provider, user.username, client.clientId)).jti;
    const token = new provider.AccessToken({
      ...{ accountId: user.username, client, grantId, gty: 'password' },
      resourceServer: new provider.ResourceServer(API, api),
      ...(scope.length > 0 && { scope: scope.join(' ') }),
    });
    context.oidc.entity('AccessToken', token);
    context.body = {
      access_token: await token.save(),
      expires_in: token.expiration,
      token_type: 'Bearer',
      scope: scope.join(' '),
    };
  };
}
