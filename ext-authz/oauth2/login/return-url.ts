import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import { isAt } from '#ext-authz/oauth2/session/origin.ts';
import type { ProtectedOrigin } from '#resources/kinds/filter/filter-oauth2-origins.ts';

/** As long as the browser's cookies have room for (pending-fields.ts). */
const LONGEST = 8192;
const GATEWAY_PATHS = '/.gateway/';

/**
 * Returns where the browser goes on after a login that this request began. For GET and HEAD it is
 * what the request asked for, else its Referer when that is on the same origin. It is `/` for what
 * is longer than 8,192 characters or below `/.gateway/`. It is always a URL of `origin`. See
 * docs/adr/0012-logins-in-the-browser.md.
 */
export function returnUrl({ headers, method, target }: HttpRequest, origin: string): string {
  const wanted =
    method === 'GET' || method === 'HEAD'
      ? `${origin}${target}`
      : (headers.get('referer')?.[0] ?? '');
  return urlWithin(wanted, origin) ?? `${origin}/`;
}

/** Returns the page of this origin that sent a request, as far as the browser names it. */
export function askingPage(
  { headers }: Pick<HttpRequest, 'headers'>,
  origin: string,
): string | undefined {
  return urlWithin(headers.get('referer')?.[0] ?? '', origin);
}

/**
 * Returns the text as a URL of one of these origins.
 * @returns undefined when it is not one
 */
export function protectedUrl(
  text: string,
  origins: readonly ProtectedOrigin[],
): string | undefined {
  const url = text.length > LONGEST ? null : URL.parse(text);
  if (url === null) return undefined;
  return origins.some(origin => isAt(origin, url)) ? urlWithin(text, url.origin) : undefined;
}

function urlWithin(text: string, origin: string): string | undefined {
  if (text.length > LONGEST || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  const isWithin = url.origin === origin && url.username === '' && url.password === '';
  if (!isWithin || url.pathname.startsWith(GATEWAY_PATHS) || url.href.length > LONGEST)
    return undefined;
  return url.href;
}
