import { formatOrigin } from '#resources/origin.ts';
import { seeOther } from '../answer-page.ts';
import type { HttpRequest } from '../http-request.ts';
import type { Answer } from '../outcome.ts';
import { createTicket, readHandoff, takeHandoff, takeTicket, type Wish } from './attempt.ts';
import { sessionCookies } from './cookies.ts';
import { failurePage, moveOn } from './gateway-page.ts';
import { beginLoginFor } from './login.ts';
import type { LoginFilter } from './login-filter.ts';
import { CALLBACK_PATH } from './origin.ts';
import { clearPending, donePending, isPendingHere } from './pending-cookies.ts';
import { presentedSession, usableSession } from './presented-session.ts';
import type { Protecting } from './protecting.ts';
import { sameText } from './same-text.ts';
import { scopeState } from './session-state.ts';

/**
 * The origin that holds the login is asked for a session by another: it gives a ticket, or logs in first: without a session, with too little scope,
 * or when it is this very session that the other one cannot use.
 * Source: decisions, "Several origins, one login", step 2.
 */
export async function answerHandoff(
  candidates: readonly Protecting[],
  request: HttpRequest,
  handoff: string,
  signal: () => AbortSignal,
): Promise<Answer> {
  for (const { filter, place } of candidates) {
    const wish = place.holdsLogin ? await readHandoff(filter, handoff) : undefined;
    if (wish === undefined) continue;
    const { loaded } = await presentedSession(filter, request);
    const session = await usableSession(filter, loaded, signal);
    const asking = { request, place, signal: signal() };
    if (loaded === undefined || session === undefined)
      return beginLoginFor(filter, asking, { handoff, wish }, wish.scope);
    if (wish.replaces === loaded.key || scopeState(session, wish.scope) === 'never asked') {
      const scope = [...new Set([...session.asked, ...wish.scope])].sort();
      return beginLoginFor(filter, asking, { handoff, wish: { ...wish, replaces: loaded.key } }, scope);
    }
    const url = await ticketUrl(filter, handoff, loaded.id);
    if (url !== undefined) return seeOther(url);
  }
  return failurePage(request, 400, 'This login is over, or it took too long.');
}

/**
 * Where the browser takes a fresh ticket for a session: to the origin that the stored hand-off names, and to no other. Undefined: the hand-off is
 * over, or its origin is no longer protected.
 */
export async function ticketUrl(
  filter: LoginFilter,
  handoff: string,
  sessionId: string,
): Promise<string | undefined> {
  const wish = await readHandoff(filter, handoff);
  if (wish === undefined || !isProtected(filter, wish)) return undefined;
  const ticket = await createTicket(filter, { handoff, sessionId });
  return `${wish.origin}${CALLBACK_PATH}?handoff=${handoff}&ticket=${ticket}`;
}

function isProtected({ settings }: LoginFilter, wish: Wish): boolean {
  return settings.protectedOrigins.some(({ includeSubdomains, origin }) => {
    if (wish.origin === formatOrigin(origin)) return true;
    const { host } = new URL(formatOrigin(origin));
    return (
      includeSubdomains && wish.origin.startsWith(`${origin.scheme}://`) && wish.origin.endsWith(`.${host}`)
    );
  });
}

/**
 * The other origin gets the session: ticket, hand-off and this browser's pending cookie must belong together. Either counts once. A tab whose pending
 * cookie was cleared by another tab's login goes on when it has this very session already.
 * Source: decisions, "Several origins, one login", step 3.
 */
export async function answerTicket(
  candidates: readonly Protecting[],
  request: HttpRequest,
  { handoff, ticket }: { readonly handoff: string; readonly ticket: string },
): Promise<Answer> {
  for (const candidate of candidates) {
    const { filter, place } = candidate;
    const found = await takeTicket(filter, ticket);
    if (found === undefined) continue;
    const wish = sameText(found.handoff, handoff) ? await takeHandoff(filter, handoff) : undefined;
    if (wish === undefined || wish.origin !== place.origin) break;
    if (isPendingHere(filter, request, wish.pending))
      return receive(candidate, request, wish, found.sessionId);
    const { loaded } = await presentedSession(filter, request);
    if (loaded !== undefined && sameText(loaded.id, found.sessionId)) return seeOther(wish.returnUrl);
    break;
  }
  return failurePage(request, 403, 'This login was begun in another browser, or it is over.');
}

/** The same session id and xsrf value. A session that has ended meanwhile: the page itself begins anew. */
async function receive(
  { filter, place }: Protecting,
  request: HttpRequest,
  { replaces, returnUrl }: Wish,
  sessionId: string,
): Promise<Answer> {
  const { realm, sessions, sources } = filter;
  const loaded = await sessions.read(sessionId);
  if (loaded === undefined) return seeOther(returnUrl, clearPending(filter, place, request));
  if (replaces !== undefined && replaces !== loaded.key) await sessions.remove(replaces);
  const { session } = loaded;
  const cookies = [
    ...sessionCookies(realm, place, sessionId, session, sources.now()),
    ...donePending(filter, place, request, session),
  ];
  return moveOn(request, returnUrl, cookies, session.sameSite);
}
