import { type RequestOptions, request } from '#envoy/e2e/request.ts';
import { logIn } from '../testing/log-in.ts';
import type { TestUser } from '../testing/oidc-provider.ts';

const CALLBACK_PATH = '/.gateway/oauth2/redirection-endpoint';

/** The cookies that an answer sets, as a browser sends them again. */
export function cookiesOf(headers: {
  readonly 'set-cookie'?: string | string[] | undefined;
}): string {
  return [headers['set-cookie'] ?? []]
    .flat()
    .map(cookie => cookie.split(';', 1)[0])
    .join('; ');
}

/**
 * Logs a user in at an edge, whose base URL is that of the protected origin unless `host` says
 * otherwise. Resolves with the `Cookie` field of the session. Fails when there is none.
 */
export async function edgeSession(
  base: string,
  path: string,
  user: TestUser,
  host = new URL(base).host,
): Promise<string> {
  const ask = (target: string, headers: RequestOptions['headers'] = {}) =>
    request(base, target, { headers: { ...headers, host } });
  const away = await ask(path);
  if (away.status !== 303)
    throw new Error(`${path} is answered ${away.status}, not sent to log in`);
  const callback = await logIn(away.headers.location ?? '', user, `http://${host}${CALLBACK_PATH}`);
  const back = await ask(callback.pathname + callback.search, { cookie: cookiesOf(away.headers) });
  const cookie = cookiesOf(back.headers);
  if (!cookie.includes('gateway_session.'))
    throw new Error(`${back.status} without a session: ${back.body}`);
  return cookie;
}
