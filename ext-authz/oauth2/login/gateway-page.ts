import { answerPage, seeOther } from '#ext-authz/http/answer-page.ts';
import type { GatewayAnswer } from '#ext-authz/http/filter-decision.ts';
import type { Page } from '#ext-authz/http/html-page.ts';
import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import type { SetCookie } from '#ext-authz/oauth2/session/cookies.ts';
import type { SameSite } from '#ext-authz/policy/rule.ts';

/** Returns a page that offers to begin again at `href`, a URL of the same origin. */
export function failurePage(
  request: HttpRequest,
  status: number,
  message: string,
  href = '/',
  cookies: readonly SetCookie[] = [],
): GatewayAnswer {
  return startAgain(request, { status, message, headers: cookies }, href);
}

/** Answers an address of the gateway that lacks a parameter. */
export function incomplete(request: HttpRequest): GatewayAnswer {
  return failurePage(request, 400, 'This address is not complete.');
}

/** Returns the same page with more words. */
export function startAgain(request: HttpRequest, page: Page, href = '/'): GatewayAnswer {
  return answerPage(request, {
    ...page,
    links: [{ href, text: 'Start again' }, ...(page.links ?? [])],
  });
}

/**
 * Goes on to a URL of the gateway's origin with new cookies. Browsers withhold strict cookies in a
 * chain of redirects that another site began (RFC 6265bis section 5.2). In that case a page of the
 * gateway moves on. See docs/adr/0012-logins-in-the-browser.md.
 */
export function moveOn(
  request: HttpRequest,
  url: string,
  cookies: readonly SetCookie[],
  sameSite: SameSite | undefined,
): GatewayAnswer {
  if (sameSite !== 'strict') return seeOther(url, cookies);
  return answerPage(request, {
    status: 200,
    title: 'You are logged in',
    message: 'You are logged in.',
    refresh: { url },
    links: [{ href: url, text: 'Go on' }],
    headers: cookies,
  });
}

/**
 * Sends a browser to its login by a page, which keeps the fragment of its address in a cookie.
 * After a redirect the provider's page would have the fragment, and lose it with its first form.
 */
export function loginPage(
  request: HttpRequest,
  url: string,
  cookies: readonly SetCookie[],
  fragmentCookie: string,
): GatewayAnswer {
  return answerPage(request, {
    status: 200,
    title: 'You must log in',
    message: 'You must log in to see this page.',
    refresh: { url, fragmentCookie },
    links: [{ href: url, text: 'Log in' }],
    headers: cookies,
  });
}

/** Answers 405 (RFC 9110 section 15.5.6). */
export function methodNotAllowed(request: HttpRequest, allow: string): GatewayAnswer {
  const message = `Only ${allow} is allowed here.`;
  return answerPage(request, { status: 405, message, headers: [['allow', allow]] });
}
