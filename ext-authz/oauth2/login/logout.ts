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
import type { Presented } from '#ext-authz/oauth2/session/presented.ts';
import { presentedSession } from '#ext-authz/oauth2/session/presented-session.ts';
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

async function logOut(
  candidate: Protecting,
  request: HttpRequest,
  xsrf: string | undefined,
  signal: () => AbortSignal,
): Promise<GatewayAnswer> {
  const { filter, place } = candidate;
  const presented = await presentedSession(filter, place, request);
  const { loaded } = presented;
  if (xsrf === undefined || !isXsrf(xsrf, filter, request, loaded?.session))
    return answerPage(request, { status: 403, message: '`_xsrf` is missing or wrong.' });
  if (loaded === undefined) return seeOther('/', clearing(candidate, presented));
  await filter.sessions.remove(loaded.key);
  return leave(filter, request, loaded.session, clearing(candidate, presented), signal);
}

/**
 * Compares in constant time with the session's value, which must be in a cookie too. A neighbour's
 * page may have planted others, and must not keep anybody from logging out. Without a session two
 * different cookies do not count.
 */
function isXsrf(
  xsrf: string,
  { realm }: LoginFilter,
  { headers }: HttpRequest,
  session: Session | undefined,
): boolean {
  const cookies = cookieValues(headers, `${XSRF}.${realm}`);
  if (xsrf === '' || !cookies.some(cookie => sameText(xsrf, cookie))) return false;
  return session === undefined ? cookies.length === 1 : sameText(xsrf, session.xsrf);
}

function clearing(
  { filter, place }: Protecting,
  { loaded, several }: Presented,
): readonly SetCookie[] {
  const forms = several ? 'both forms' : 'own form';
  return clearSessionCookies(filter.realm, place, loaded?.session.sameSite, forms);
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
