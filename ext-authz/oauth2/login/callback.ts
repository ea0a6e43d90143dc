import { seeOther } from '#ext-authz/http/answer-page.ts';
import type { GatewayAnswer } from '#ext-authz/http/filter-decision.ts';
import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import { sessionCookies } from '#ext-authz/oauth2/session/cookies.ts';
import { presentedSession, usableSession } from '#ext-authz/oauth2/session/presented-session.ts';
import { newSession, type Session } from '#ext-authz/oauth2/session/session.ts';
import type { LoadedSession } from '#ext-authz/oauth2/session/session-records.ts';
import { scopeState, stateOf } from '#ext-authz/oauth2/session/session-state.ts';
import { isOpenState } from '#ext-authz/oauth2/session/state.ts';
import { hearToken } from '#ext-authz/oauth2/tokens/heard-token.ts';
import { StoreUnavailable } from '#ext-authz/store/record-store.ts';
import { newSecret } from '#ext-authz/store/sealed-record.ts';
import {
  type Callback,
  type CallbackParameters,
  type CallbackTimes,
  failed,
  refused,
  refusedBrowser,
  refusedPage,
  refusedToken,
} from './callback-refusal.ts';
import { failurePage, incomplete, moveOn, startAgain } from './gateway-page.ts';
import { ticketUrl } from './handoff.ts';
import { redirectUriOf } from './login.ts';
import { ageFault } from './login-age.ts';
import { USED_LOGIN } from './login-failure.ts';
import {
  broughtAttempt,
  dropAttempt,
  isKnownBy,
  knownBy,
  newestAttempt,
} from './pending-cookies.ts';
import type { Protecting } from './protecting.ts';
import { isSpent, spend, unspend } from './spent-states.ts';

/**
 * Answers what the provider sends the browser back with. It must come from the browser that began
 * the login, at the origin that it was begun for (RFC 6749 section 10.12). A `state` counts once.
 */
export async function answerCallback(
  candidates: readonly Protecting[],
  request: HttpRequest,
  parameters: CallbackParameters,
  times: CallbackTimes,
): Promise<GatewayAnswer> {
  const { check, provider: signal } = times;
  const { error, state } = parameters;
  if (!state && error !== undefined)
    return statelessError(candidates, request, { ...parameters, error }, times);
  if (state === undefined) return incomplete(request);
  const candidate = candidates.find(({ filter }) => isOpenState(filter, state));
  if (candidate === undefined) return unknownState(candidates, request, signal);
  const { filter, place } = candidate;
  const attempt = broughtAttempt(filter, place, request, state);
  if (attempt === undefined)
    return (await isSpent(filter, state))
      ? unknownState(candidates, request, signal)
      : refusedBrowser(request, candidate);
  const callback = { ...candidate, request, attempt, parameters, signal, check };
  return judge(callback).catch((error: unknown) => {
    throw failed(callback, error);
  });
}

/**
 * Answers an error that some providers send without the `state` of its login. The page tells the
 * browser of it that began a login last, and ends none.
 */
async function statelessError(
  candidates: readonly Protecting[],
  request: HttpRequest,
  parameters: CallbackParameters & { readonly error: string },
  { check, provider: signal }: CallbackTimes,
): Promise<GatewayAnswer> {
  for (const candidate of candidates) {
    const attempt = newestAttempt(candidate.filter, candidate.place, request);
    if (attempt === undefined) continue;
    const callback = { ...candidate, request, attempt, parameters, signal, check };
    return refused(callback, parameters.error).catch((error: unknown) => {
      throw failed(callback, error);
    });
  }
  return incomplete(request);
}

async function judge(callback: Callback): Promise<GatewayAnswer> {
  const { attempt, filter, parameters, place, request } = callback;
  const { loaded } = await presentedSession(filter, place, request);
  const known = loaded !== undefined && isKnownBy(loaded.session, attempt) ? loaded : undefined;
  const suffices = known !== undefined && scopeState(known.session, attempt.scope) === 'granted';
  // Keycloak says so in a tab whose login page was open while another tab logged in.
  if (parameters.error === 'temporarily_unavailable' && suffices) return goOn(callback, known);
  if (parameters.error !== undefined) return refused(callback, parameters.error);
  // A parameter without a value counts as omitted (RFC 6749 section 3.1).
  if (!parameters.code)
    return failurePage(request, 400, 'The identity provider sent no code.', attempt.returnUrl);
  if (known !== undefined) return goOn(callback, known);
  return logInOnce(callback, parameters.code, loaded);
}

/**
 * Goes on with the session of another tab that has logged in meanwhile, never with this login's.
 * The code stays unused. A page that needs more scope asks for it by itself.
 */
async function goOn(callback: Callback, { id, session }: LoadedSession): Promise<GatewayAnswer> {
  const { attempt, filter, place, request } = callback;
  if (scopeState(session, attempt.scope) === 'granted') return finish(callback, id, session);
  return seeOther(attempt.returnUrl, dropAttempt(filter, place, request, attempt));
}

/** Spends the state before it asks the provider, so that of several callbacks one goes on. */
async function logInOnce(
  callback: Callback,
  code: string,
  before: LoadedSession | undefined,
): Promise<GatewayAnswer> {
  const { attempt, filter, place, request, signal } = callback;
  if (!(await spend(filter, attempt.state)))
    return unknownState([{ filter, place }], request, signal, attempt.returnUrl);
  let isLoggedIn = false;
  try {
    const session = await exchange(callback, code, before);
    if ('refused' in session) return refusedPage(callback, session.refused);
    const id = await filter.sessions.create(session, filter.sources.now());
    isLoggedIn = true;
    return await enter(callback, id, session, before);
  } catch (error) {
    return refusedToken(callback, error);
  } finally {
    if (!isLoggedIn) await unspend(filter, attempt.state).catch(() => {});
  }
}

/**
 * Goes on with the new session and ends the sessions before. When the store fails, or the check is
 * over, the new one ends, because no browser gets to know it.
 */
async function enter(
  callback: Callback,
  id: string,
  session: Session,
  before: LoadedSession | undefined,
): Promise<GatewayAnswer> {
  const { attempt, filter } = callback;
  const { sessions } = filter;
  try {
    const answer = await finish(callback, id, session);
    assertInTime(callback);
    const old = [attempt.replaces, before?.key].filter(key => key !== undefined);
    await Promise.all(old.map(key => sessions.remove(key)));
    assertInTime(callback);
    return answer;
  } catch (error) {
    await sessions.remove(sessions.keyOf(id)).catch(() => {});
    throw error;
  }
}

function assertInTime({ check }: Callback): void {
  if (check().aborted) throw new StoreUnavailable('the login took longer than its check');
}

/**
 * Exchanges the code (RFC 6749 section 4.1.3). The access token is judged once before there is a
 * session, so that it does not send the next request to log in again.
 */
async function exchange(
  { attempt, filter, parameters, place, request: asked, signal }: Callback,
  code: string,
  before: LoadedSession | undefined,
): Promise<Session | { readonly refused: string }> {
  const { provider, resourceServer, settings, sources } = filter;
  const { codeVerifier, nonce, sameSite, scope, sessionCookies: browserOnly } = attempt;
  const redirectUri = redirectUriOf(filter);
  const request = { code, iss: parameters.iss, redirectUri, codeVerifier, nonce };
  const tokens = await provider.exchangeCode(request, signal());
  const tooOld = ageFault(filter, attempt.state, tokens.idToken);
  if (tooOld !== undefined) return { refused: tooOld };
  const xsrf = newSecret(sources.randomBytes);
  const pending = knownBy(filter, place, asked, attempt, before?.session);
  const origin = { xsrf, pending, asked: scope, sameSite, sessionCookies: browserOnly };
  const now = sources.now();
  const session = newSession(origin, tokens, settings.clientSessionMaxIdle, now);
  const verdict = await resourceServer.validate(session, [], signal);
  const isOver = stateOf(session, settings.expirationSafetyMargin, now) === 'none';
  const over = isOver ? endOf(session, now) : resourceServer.roomFault(session, asked);
  const fault = verdict.kind === 'invalid' ? `was refused: ${verdict.check}` : over;
  hearToken(filter, fault);
  if (fault !== undefined)
    return { refused: `The access token of the identity provider ${fault}.` };
  return { ...session, cookieEnds: { [place.configured]: session.ends } };
}

function endOf({ accessTokenEnds }: Session, now: number): string {
  return now < accessTokenEnds ? 'ends within expirationSafetyMargin' : 'has expired already';
}

/**
 * Sets the cookies and goes on, to the origin that the login is for or to what was asked for first.
 */
async function finish(
  { attempt, filter, place, request }: Callback,
  id: string,
  session: Session,
): Promise<GatewayAnswer> {
  const { realm, sources } = filter;
  const cookies = [
    ...sessionCookies(realm, place, id, session, sources.now()),
    ...dropAttempt(filter, place, request, attempt),
  ];
  if (attempt.handoff === undefined)
    return moveOn(request, attempt.returnUrl, cookies, session.sameSite);
  const url = await ticketUrl(filter, attempt.handoff, id);
  if (url === undefined)
    return failurePage(request, 400, 'This login took too long.', attempt.returnUrl, cookies);
  return seeOther(url, cookies);
}

/**
 * Answers a state that was used, has expired or is not one of the gateway's. The user may have
 * reloaded a page, used the button Back or clicked twice. `href` is where to start again.
 */
async function unknownState(
  candidates: readonly Protecting[],
  request: HttpRequest,
  signal: () => AbortSignal,
  href?: string,
): Promise<GatewayAnswer> {
  for (const { filter, place } of candidates) {
    const { loaded } = await presentedSession(filter, place, request);
    if ((await usableSession(filter, loaded, signal)) !== undefined)
      return seeOther(`${place.origin}/`);
  }
  return startAgain(request, USED_LOGIN, href);
}
