import { randomBytes } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose';
import { SESSION, XSRF } from '#ext-authz/oauth2/cookies.ts';
import { newSession } from '#ext-authz/oauth2/session.ts';
import { SessionRecords } from '#ext-authz/oauth2/session-records.ts';
import type { RecordStore } from '#ext-authz/store/record-store.ts';
import type { HostileProvider } from '#ext-authz/testing/hostile-provider.ts';
import { CLIENT, FILTER } from './site.ts';

const REALM = `${FILTER}.default`;
const LIFETIME_SECONDS = 3_600;
const IDLE_MS = 14 * 86_400_000;
const AT_ONCE = 100;

/** The Cookie fields of `count` users who are logged in, as a browser sends them; each has an access token of its own (a JWT, RS256). */
export async function logInAll(
  store: RecordStore,
  provider: HostileProvider,
  count: number,
): Promise<readonly string[]> {
  const realm = JSON.stringify([REALM, provider.issuer, CLIENT.client_id]);
  const records = new SessionRecords({ store, realm, randomBytes });
  const cookies: string[] = [];
  while (cookies.length < count) {
    const first = cookies.length;
    const users = Array.from({ length: Math.min(AT_ONCE, count - first) }, (_, index) => first + index);
    cookies.push(...(await Promise.all(users.map(user => logIn(records, provider, user)))));
  }
  return cookies;
}

async function logIn(records: SessionRecords, provider: HostileProvider, user: number): Promise<string> {
  const [now, xsrf] = [Date.now(), randomBytes(32).toString('hex')];
  const raw = await provider.idToken({ claims: { sub: `user-${user}` } });
  const idToken = { raw, header: { ...decodeProtectedHeader(raw) }, claims: decodeJwt(raw) };
  const tokens = {
    accessToken: await accessToken(provider, user),
    tokenType: 'Bearer' as const,
    ...{ expiresInSeconds: LIFETIME_SECONDS, scope: undefined, idToken },
  };
  const origin = { xsrf, pending: '', asked: ['openid'], sessionCookies: false };
  const id = await records.create(newSession(origin, tokens, IDLE_MS, now), now);
  return `${SESSION}.${REALM}=${id}; ${XSRF}.${REALM}=${xsrf}`;
}

function accessToken({ issuer, key }: HostileProvider, user: number): Promise<string> {
  const claims = { client_id: CLIENT.client_id, scope: 'openid', jti: `${user}`, sub: `user-${user}` };
  return new SignJWT(claims)
    .setProtectedHeader({ alg: 'RS256', kid: key.kid, typ: 'at+jwt' })
    .setIssuer(issuer)
    .setAudience('https://api.test')
    .setIssuedAt()
    .setExpirationTime(`${LIFETIME_SECONDS}s`)
    .sign(key.privateKey);
}
