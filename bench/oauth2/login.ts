import { SESSION, XSRF } from '#ext-authz/oauth2/session/cookies.ts';
import type { RecordStore } from '#ext-authz/store/record-store.ts';
import type { HostileProvider } from '#ext-authz/testing/hostile-provider.ts';
import { storeLogin } from '#ext-authz/testing/store-login.ts';
import { CLIENT, FILTER } from './site.ts';

const REALM = `${FILTER}.default`;

/**
 * Returns the Cookie fields of `count` users who are logged in, as a browser sends them. Each has
 * an access token of its own.
 */
export async function logInAll(
  store: RecordStore,
  provider: HostileProvider,
  count: number,
): Promise<readonly string[]> {
  const cookies: string[] = [];
  for (let user = 0; user < count; user++) {
    const who = { realm: REALM, clientID: CLIENT.client_id, user: `user-${user}` };
    const { id, xsrf } = await storeLogin(store, { ...who, provider, now: Date.now() });
    cookies.push(`${SESSION}.${REALM}=${id}; ${XSRF}.${REALM}=${xsrf}`);
  }
  return cookies;
}
