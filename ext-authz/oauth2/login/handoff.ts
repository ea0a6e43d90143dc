import { seeOther } from '#ext-authz/http/answer-page.ts';
import type { GatewayAnswer } from '#ext-authz/http/filter-decision.ts';
import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import { sessionCookies } from '#ext-authz/oauth2/session/cookies.ts';
import type { LoginFilter } from '#ext-authz/oauth2/session/login-filter.ts';
import { CALLBACK_PATH, isAt } from '#ext-authz/oauth2/session/origin.ts';
import { presentedSession, usableSession } from '#ext-authz/oauth2/session/presented-session.ts';
import { scopeState } from '#ext-authz/oauth2/session/session-state.ts';
import { isOpenState } from '#ext-authz/oauth2/session/state.ts';
import { sameText } from '#ext-authz/provider/same-text.ts';
import type { Attempt, HandoffTarget } from './attempt.ts';
import { moveOn, startAgain } from './gateway-page.ts';
import { openHandoff } from './handoff-text.ts';
import { beginLoginFor } from './login.ts';
import { OTHER_BROWSER, USED_LOGIN } from './login-failure.ts';
import { broughtAttempt, dropAttempt } from './pending-cookies.ts';
import type { Protecting } from './protecting.ts';
import { spend } from './spent-states.ts';
import { createTicket, takeTicket } from './ticket.ts';

/**
 * Answers another origin that asks the origin that holds the login for a session. It gives a
 * ticket, or logs in first. It logs in without a session, with too little scope, or when the other
 * origin cannot use this very session.
 */
export async function answerHandoff(
  candidates: readonly Protecting[],
  request: HttpRequest,
  text: string,
  signal: () => AbortSignal,
): Promise<GatewayAnswer> {
  for (const { filter, place } of candidates) {
    const handoff = place.holdsLogin ? openHandoff(filter, text) : undefined;
    if (handoff === undefined) continue;
    const { loaded } = await presentedSession(filter, place, request);
    const session = await usableSession(filter, loaded, signal);
    const asking = { request, place, signal: signal() };
    if (loaded === undefined || session === undefined)
      return beginLoginFor(filter, asking, handoff);
    if (handoff.replaces === loaded.key || scopeState(session, handoff.scope) === 'never asked') {
      const scope = [...new Set([...session.asked, ...handoff.scope])].sort();
      return beginLoginFor(filter, asking, { ...handoff, scope, replaces: loaded.key });
    }
    const url = await ticketUrl(filter, handoff, loaded.id);
    if (url !== undefined) return seeOther(url);
  }
  return startAgain(request, USED_LOGIN);
}

/**
 * Returns where the browser takes a new ticket for a session: to the origin of the hand-off, and to
 * no other.
 * @returns undefined when that origin is no longer protected, or the login took too long
 */
export async function ticketUrl(
  filter: LoginFilter,
  { id, origin }: HandoffTarget,
  sessionId: string,
): Promise<string | undefined> {
  if (!isOpenState(filter, id) || !isProtected(filter, origin)) return undefined;
  const ticket = await createTicket(filter, { handoff: id, sessionId });
  return `${origin}${CALLBACK_PATH}?handoff=${id}&ticket=${ticket}`;
}

function isProtected({ settings }: LoginFilter, origin: string): boolean {
  const url = URL.parse(origin);
  return url !== null && settings.protectedOrigins.some(item => isAt(item, url));
}

/**
 * Gives the session to the other origin. Ticket, hand-off and the attempt that this browser keeps
 * must belong together. Each counts once.
 */
export async function answerTicket(
  candidates: readonly Protecting[],
  request: HttpRequest,
  { handoff, ticket }: { readonly handoff: string; readonly ticket: string },
): Promise<GatewayAnswer> {
  for (const candidate of candidates) {
    const { filter, place } = candidate;
    const found = await takeTicket(filter, ticket);
    if (found === undefined) continue;
    if (!sameText(found.handoff, handoff)) break;
    const attempt = broughtAttempt(filter, place, request, handoff);
    if (attempt === undefined || !(await spend(filter, handoff))) break;
    return receive(candidate, request, attempt, found.sessionId);
  }
  return startAgain(request, OTHER_BROWSER);
}

/**
 * Takes over the same session id and xsrf value. When the session has ended meanwhile, the page
 * itself begins again.
 */
async function receive(
  { filter, place }: Protecting,
  request: HttpRequest,
  attempt: Attempt,
  sessionId: string,
): Promise<GatewayAnswer> {
  const { realm, sessions, sources } = filter;
  const { replaces, returnUrl } = attempt;
  const loaded = await sessions.read(sessionId);
  const dropped = dropAttempt(filter, place, request, attempt);
  if (loaded === undefined) return seeOther(returnUrl, dropped);
  if (replaces !== undefined && replaces !== loaded.key) await sessions.remove(replaces);
  const { session } = loaded;
  const cookies = [...sessionCookies(realm, place, sessionId, session, sources.now()), ...dropped];
  return moveOn(request, returnUrl, cookies, session.sameSite);
}
