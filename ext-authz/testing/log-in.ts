import type { TestUser } from './oidc-provider.ts';

const MAX_STEPS = 10;

/**
 * Plays the browser at the provider. It follows redirects with cookies, and fills in the login
 * form. It stops where the browser would be sent to a URL that begins with `callback`, and returns
 * that URL. By `cookies` the provider recognises its browser.
 */
export async function logIn(
  authorizationUrl: string,
  { password, username }: TestUser,
  callback: string,
  cookies = new Map<string, string>(),
): Promise<URL> {
  let url = authorizationUrl;
  let body: URLSearchParams | undefined;
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const response = await visit(url, cookies, body);
    const location = response.headers.get('location');
    body = location === null ? new URLSearchParams({ username, password }) : undefined;
    if (location === null && response.status !== 200)
      throw new Error(`status ${response.status}: ${await response.text()}`);
    await response.body?.cancel();
    url = location === null ? url : new URL(location, url).href;
    if (url.startsWith(callback)) return new URL(url);
  }
  throw new Error(`no callback after ${MAX_STEPS} steps`);
}

async function visit(
  url: string,
  cookies: Map<string, string>,
  body: URLSearchParams | undefined,
): Promise<Response> {
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const response = await fetch(url, {
    redirect: 'manual',
    headers: { cookie },
    ...(body !== undefined && { method: 'POST', body }),
  });
  for (const field of response.headers.getSetCookie()) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(field) ?? [];
    cookies.set(name, value);
  }
  return response;
}
