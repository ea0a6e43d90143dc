import { createSecretKey, randomBytes } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose';
import { newSession, type Session } from '#ext-authz/oauth2/session/session.ts';
import { SessionRecords } from '#ext-authz/oauth2/session/session-records.ts';
import type { RecordStore } from '#ext-authz/store/record-store.ts';
import type { HostileProvider } from './hostile-provider.ts';

/** A login without a browser. It has what its cookies hold, and its record. */
export type StoredLogin = {
  readonly id: string;
  readonly xsrf: string;
  readonly key: string;
  readonly session: Session;
};

export type LoginOptions = {
  readonly provider: HostileProvider;
  /** `<name>.<namespace>` of the Filter, and its client. */
  readonly realm: string;
  readonly clientID: string;
  readonly user: string;
  readonly now: number;
  readonly refreshToken?: string;
};

/** Of services that are to know these logins. */
export const STORE_KEY = createSecretKey(Buffer.alloc(32, 7));

const LIFETIME_SECONDS = 3_600;
const IDLE_MS = 14 * 86_400_000;

/** Makes the session of a user who has logged in. Its access token is a JWT and ends in an hour. */
export async function storeLogin(store: RecordStore, options: LoginOptions): Promise<StoredLogin> {
  const { clientID, now, provider, realm, user } = options;
  const sealRealm = JSON.stringify([realm, provider.issuer, clientID]);
  const records = new SessionRecords({
    store,
    realm: sealRealm,
    randomBytes,
    storeKey: STORE_KEY,
    now: () => now,
  });
  const [raw, xsrf] = [
    await provider.idToken({ claims: { sub: user } }),
    randomBytes(32).toString('hex'),
  ];
  const idToken = { raw, header: { ...decodeProtectedHeader(raw) }, claims: decodeJwt(raw) };
  const tokens = {
    ...{ accessToken: await accessToken(options), tokenType: 'Bearer' as const, scope: undefined },
    ...{ expiresInSeconds: LIFETIME_SECONDS, idToken },
    ...(options.refreshToken !== undefined && { refreshToken: options.refreshToken }),
  };
  const origin = { xsrf, pending: [], asked: ['openid'], sessionCookies: false };
  const session = newSession(origin, tokens, IDLE_MS, now);
  const id = await records.create(session, now);
  return { id, xsrf, key: records.keyOf(id), session };
}

/** RFC 9068. */
function accessToken({
  clientID,
  now,
  provider: { issuer, key },
  user,
}: LoginOptions): Promise<string> {
  const issued = Math.floor(now / 1_000);
  return new SignJWT({ client_id: clientID, scope: 'openid', sub: user })
    .setProtectedHeader({ alg: 'RS256', kid: key.kid, typ: 'at+jwt' })
    .setIssuer(issuer)
    .setAudience('https://api.test')
    .setIssuedAt(issued)
    .setExpirationTime(issued + LIFETIME_SECONDS)
    .setJti(randomBytes(8).toString('hex'))
    .sign(key.privateKey);
}
