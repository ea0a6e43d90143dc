import { answerPage, seeOther } from '#ext-authz/http/answer-page.ts';
import type { AnswerNote, GatewayAnswer } from '#ext-authz/http/filter-decision.ts';
import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import {
  clearSessionCookies,
  cookieValues,
  type SetCookie,
  XSRF,
} from '#ext-authz/oauth2/session/cookies.ts';
import type { LoginFilter } from '#ext-authz/oauth2/session/login-filter.ts';
import { namedSessions } from '#ext-authz/oauth2/session/presented-session.ts';
import type { Session } from '#ext-authz/oauth2/session/session.ts';
import { ProviderError } from '#ext-authz/provider/provider-error.ts';
import { sameText } from '#ext-authz/provider/same-text.ts';
import { newUrlSecret } from '#ext-authz/store/sealed-record.ts';
import { methodNotAllowed } from './gateway-page.ts';
import { answerPreflight, corsHeaders, isPreflight } from './logout-cors.ts';
import { parseLogout } from './logout-request.ts';
import type { Protecting } from './protecting.ts';

/**
 * Logs out. It ends the session in the store, then clears its cookies, then sends the browser to
 * the provider. See docs/reference/kinds/filter.md.
 */
export async function answerLogout(
  candidates: readonly Protecting[],
  request: HttpRequest,
  signal: () => AbortSignal,
): Promise<GatewayAnswer> {
  const filters = candidates.map(({ filter }) => filter);
  if (isPreflight(request)) return answerPreflight(filters, request);
  const readable = (answer: GatewayAnswer, by: readonly LoginFilter[] = filters) => ({
    ...answer,
    headers: [...answer.headers, ...corsHeaders(by, request)],
  });
  if (request.method !== 'POST') return readable(methodNotAllowed(request, 'POST'));
  const parsed = parseLogout(request);
  if ('error' in parsed)
    return readable(answerPage(request, { status: parsed.status, message: parsed.error }));
  const candidate = candidates.find(({ filter }) => filter.realm === parsed.realm);
  if (candidate === undefined)
    return readable(
      answerPage(request, { status: 400, message: 'There is no such `realm` on this origin.' }),
    );
  return readable(await logOut(candidate, request, parsed.xsrf, signal), [candidate.filter]);
}

/**
 * Ends all sessions that the browser names. Of several none lets a request pass, but each lives on
 * in the store.
 */
async function logOut(
  { filter, place }: Protecting,
  request: HttpRequest,
  xsrf: string,
  signal: () => AbortSignal,
): Promise<GatewayAnswer> {
  const { realm, sessions } = filter;
  const { named, several } = await namedSessions(filter, place, request);
  const own = named.find(({ session }) => sameText(xsrf, session.xsrf))?.session;
  const isWrong = own === undefined && named.length > 0;
  if (isWrong || !isInCookie(xsrf, filter, request, own !== undefined))
    return answerPage(request, { status: 403, message: '`_xsrf` is missing or wrong.' });
  const forms = several ? 'both forms' : 'own form';
  const cookies = clearSessionCookies(realm, place, own?.sameSite, forms);
  if (own === undefined) return seeOther('/', cookies);
  await Promise.all(named.map(({ key }) => sessions.remove(key)));
  return leave(filter, request, own, cookies, signal);
}

/**
 * Compares in constant time with the cookies. A neighbour's page may have planted others, and must
 * not keep anybody from logging out. Without a session two different cookies do not count.
 */
function isInCookie(
  xsrf: string,
  { realm }: LoginFilter,
  { headers }: HttpRequest,
  hasSession: boolean,
): boolean {
  const cookies = cookieValues(headers, `${XSRF}.${realm}`);
  const isIn = xsrf !== '' && cookies.some(cookie => sameText(xsrf, cookie));
  return isIn && (hasSession || cookies.length === 1);
}

/** Sends the browser to the provider (OpenID Connect RP-Initiated Logout 1.0 section 2). */
async function leave(
  { provider, realm, settings, sources }: LoginFilter,
  request: HttpRequest,
  { idToken }: Session,
  cookies: readonly SetCookie[],
  signal: () => AbortSignal,
): Promise<GatewayAnswer> {
  const { postLogoutRedirectURI } = settings;
  const back =
    postLogoutRedirectURI === undefined
      ? {}
      : { postLogoutRedirectURI, state: newUrlSecret(sources.randomBytes) };
  const page = (status: number, message: string, note?: AnswerNote) =>
    answerPage(request, {
      status,
      title: 'You are logged out here',
      message,
      headers: cookies,
      note,
    });
  try {
    const url = await provider.endSessionUrl({ idTokenHint: idToken.raw, ...back }, signal());
    return url === undefined ? page(200, HERE_ONLY) : seeOther(url, cookies);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    return page(error.code === 'timeout' ? 504 : 502, UNREACHED, { realm, reason: error.message });
  }
}

const HERE_ONLY = 'You are logged out here. The login at the identity provider itself may go on.';
const UNREACHED =
  'You are logged out here. The identity provider could not be reached. The login there may go on.';
