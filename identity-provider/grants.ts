import type { Context, Grant, Provider } from 'oidc-provider';
import { API_SCOPES, userNamed } from './sample-users.ts';

/** What the access tokens are for: the service behind the gateway (RFC 8707). */
export const API = 'urn:gateway:user-service';

/** The scope values of OpenID Connect, which every user may grant. */
export const OPENID_SCOPES = ['openid', 'offline_access', 'profile', 'email'] as const;

/**
 * Returns the grant of the session's user to the client. No user is asked. A scope value that the
 * user may not grant counts as refused.
 */
export async function loadGrant({ oidc }: Context): Promise<Grant | undefined> {
  const { client, provider, result, session } = oidc;
  const known = result?.consent?.grantId ?? session?.grantIdFor(client.clientId);
  if (known !== undefined) return provider.Grant.find(known);
  return saveGrant(provider, session?.accountId ?? '', client.clientId);
}

/** Saves what this user lets this client do, and returns it. */
export async function saveGrant(
  provider: Provider,
  accountId: string,
  clientId: string,
): Promise<Grant> {
  const scopes: readonly string[] = userNamed(accountId)?.scopes ?? [];
  const refused = API_SCOPES.filter(scope => !scopes.includes(scope)).join(' ');
  const granted = [...OPENID_SCOPES, ...scopes].join(' ');
  const grant = new provider.Grant({ accountId, clientId });
  grant.addOIDCScope(granted);
  grant.addResourceScope(API, granted);
  if (refused !== '') {
    grant.rejectOIDCScope(refused);
    grant.rejectResourceScope(API, refused);
  }
  await grant.save();
  return grant;
}
