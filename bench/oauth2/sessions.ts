import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { SESSION, XSRF } from '#ext-authz/oauth2/session/cookies.ts';
import type { Session } from '#ext-authz/oauth2/session/session.ts';
import { SessionRecords } from '#ext-authz/oauth2/session/session-records.ts';
import type { RecordStore } from '#ext-authz/store/record-store.ts';
import { logIn } from '#ext-authz/testing/log-in.ts';
import { STORE_KEY } from '#ext-authz/testing/store-login.ts';
import type { BenchProvider } from './provider.ts';
import { CALLBACK, CLIENT, FILTER, HOST, USER } from './site.ts';

const COOKIE = `${SESSION}.${FILTER}.default`;
const AT_ONCE = 100;

/**
 * Returns the Cookie fields of `count` sessions. The first is of a login at the edge and the
 * provider. The others are created in the store, each with an access token of its own.
 */
export async function makeSessions(
  port: number,
  path: string,
  { accessTokens, issuer }: BenchProvider,
  store: RecordStore,
  count: number,
): Promise<readonly string[]> {
  const id = await logInAt(port, path);
  const realm = JSON.stringify([`${FILTER}.default`, issuer, CLIENT.client_id]);
  const records = new SessionRecords({
    ...{ store, realm, randomBytes },
    ...{ storeKey: STORE_KEY, now: Date.now },
  });
  const loaded = await records.read(id);
  if (loaded === undefined) throw new Error('the session of the login is not in the store');
  const others: string[] = [];
  for (let from = 0; from < count - 1; from += AT_ONCE) {
    const tokens = accessTokens.slice(from, Math.min(from + AT_ONCE, count - 1));
    const made = tokens.map((accessToken, index) =>
      records.create(ofUser({ ...loaded.session, accessToken }, from + index), Date.now()),
    );
    others.push(...(await Promise.all(made)));
  }
  const xsrf = `${XSRF}.${FILTER}.default=${loaded.session.xsrf}`;
  return [id, ...others].map(each => `${COOKIE}=${each}; ${xsrf}`);
}

/** Returns the session's id. */
async function logInAt(port: number, path: string): Promise<string> {
  const begun = await ask(port, path, '');
  const callback = await logIn(begun.location, USER, CALLBACK);
  const done = await ask(port, callback.pathname + callback.search, begun.cookies.join('; '));
  const session = done.cookies.find(cookie => cookie.startsWith(`${COOKIE}=`));
  if (session === undefined) throw new Error(`the login failed with ${done.status}`);
  return session.slice(COOKIE.length + 1);
}

type Asked = {
  readonly status: number;
  readonly location: string;
  readonly cookies: readonly string[];
};

/** Sends a request as a browser would, with the host of the site. */
export function ask(port: number, path: string, cookie: string): Promise<Asked> {
  const headers = { host: HOST, accept: 'text/html', ...(cookie !== '' && { cookie }) };
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, headers }, response => {
      const { statusCode: status = 0, headers } = response;
      const cookies = (headers['set-cookie'] ?? []).map(field => field.split(';')[0] ?? '');
      response
        .resume()
        .once('end', () => resolve({ status, location: headers.location ?? '', cookies }));
    });
    sent.on('error', reject).end();
  });
}

/** A user has a bounded number of sessions. */
function ofUser(session: Session, index: number): Session {
  const { idToken } = session;
  return { ...session, idToken: { ...idToken, claims: { ...idToken.claims, sub: `u${index}` } } };
}
