import { StoreUnavailable } from '#ext-authz/store/record-store.ts';
import { type Eventually, whenThere } from '#process/eventually.ts';
import {
  clearSessionCookies,
  type SetCookie,
  sessionCookies,
  XSRF,
  xsrfCookie,
} from './cookies.ts';
import type { LoginFilter } from './login-filter.ts';
import type { Place } from './origin.ts';
import type { Presented } from './presented.ts';
import { type Session, sessionEnd } from './session.ts';

/**
 * Returns the cookies that an allowed answer sets. When less than half of clientSessionMaxIdle is
 * left, it sets both again and moves the session's end. It sets the xsrf cookie when it is missing
 * or of another session. See docs/adr/0014-session-store.md.
 */
export function renewedCookies(
  filter: LoginFilter,
  place: Place,
  id: string,
  session: Session,
  presented: Pick<Presented, 'xsrf' | 'hasXsrf'>,
): Eventually<readonly SetCookie[]> {
  const { realm, sources } = filter;
  const renewed = isDue(filter, place, session) ? prolong(filter, place, id) : undefined;
  return whenThere(renewed, changed =>
    changed === undefined
      ? xsrfCookies(filter, place, session, presented)
      : sessionCookies(realm, place, id, changed, sources.now()),
  );
}

const NO_COOKIES: readonly SetCookie[] = [];

function xsrfCookies(
  { realm, sources }: LoginFilter,
  place: Place,
  session: Session,
  { hasXsrf, xsrf: values }: Pick<Presented, 'xsrf' | 'hasXsrf'>,
): readonly SetCookie[] {
  if (hasXsrf) return NO_COOKIES;
  const set = xsrfCookie(realm, place, session, sources.now());
  return values.length > 1 ? [...otherForms(realm, place, session), set] : [set];
}

/** Only a session that can be refreshed outlives its access token. */
function isDue(
  { settings, sources }: LoginFilter,
  { configured }: Place,
  session: Session,
): boolean {
  return sources.now() > dueAt({ settings }, configured, session);
}

/** Returns when a session's end is moved next, in ms since the epoch. */
function dueAt(
  { settings }: Pick<LoginFilter, 'settings'>,
  configured: string,
  session: Session,
): number {
  if (session.refreshToken === undefined) return Number.POSITIVE_INFINITY;
  const ends = session.sessionCookies ? session.ends : (session.cookieEnds[configured] ?? 0);
  return ends - settings.clientSessionMaxIdle / 2;
}

/**
 * Returns for how many ms a proxy may repeat the decision that a session's request passes, if the
 * Filter lets it. Before the session's end is to be moved or its token refreshed, requests come
 * here again.
 */
export function holdsFor(
  { settings, sources }: Pick<LoginFilter, 'settings' | 'sources'>,
  { configured }: Pick<Place, 'configured'>,
  session: Session,
): number {
  const { decisionCache, expirationSafetyMargin } = settings;
  if (decisionCache === undefined) return 0;
  const until = Math.min(
    session.ends,
    session.accessTokenEnds - expirationSafetyMargin,
    dueAt({ settings }, configured, session),
  );
  return Math.max(0, Math.min(decisionCache.maxAge, until - sources.now()));
}

/**
 * Moves the session's end.
 * @returns undefined when the session is gone, or another replica is changing it, which the next
 * request will see. Also where the store takes no writes, since the session is good until its end.
 */
function prolong(filter: LoginFilter, place: Place, id: string): Promise<Session | undefined> {
  return moveEnd(filter, place, id).catch((error: unknown) => {
    if (error instanceof StoreUnavailable) return undefined;
    throw error;
  });
}

async function moveEnd(
  { sessions, settings, sources }: LoginFilter,
  { configured }: Place,
  id: string,
): Promise<Session | undefined> {
  const loaded = await sessions.read(id);
  if (loaded === undefined) return undefined;
  const now = sources.now();
  const ends = sessionEnd(loaded.session, settings.clientSessionMaxIdle, now);
  const cookieEnds = { ...loaded.session.cookieEnds, [configured]: ends };
  const session = { ...loaded.session, ends, cookieEnds };
  return (await sessions.replace(loaded, session, now)) ? session : undefined;
}

/** Returns the xsrf cookie alone, in both forms. */
function otherForms(realm: string, place: Place, { sameSite }: Session): readonly SetCookie[] {
  return clearSessionCookies(realm, place, sameSite, 'both forms').filter(([, value]) =>
    value.startsWith(XSRF),
  );
}
