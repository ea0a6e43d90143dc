import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import type { SameSite } from '#ext-authz/policy/rule.ts';
import { isSecret } from '#ext-authz/store/sealed-record.ts';
import type { CacheBounds } from '#process/bounded-cache.ts';
import { type Eventually, whenThere } from '#process/eventually.ts';
import {
  clearSessionCookies,
  cookieValues,
  isHostOnly,
  type SetCookie,
  valuesAsRead,
} from './cookies.ts';
import type { LoginFilter, PresentedAs } from './login-filter.ts';
import type { Place } from './origin.ts';
import type { Presented } from './presented.ts';
import type { Session } from './session.ts';
import type { LoadedSession, SessionRecords } from './session-records.ts';
import { nextStep, type SessionState, stateOf } from './session-state.ts';

/**
 * The bounds of the remembered fields, which are those that name a session. The weight is their
 * length, and the size of that session.
 */
export const PRESENTED_BOUNDS: CacheBounds = { entries: 10_000, weight: 32 * 1_048_576 };

/**
 * Returns the session of a request. A `Cookie` field that named a session is not parsed again. The
 * store is asked each time whether the session is unchanged. Of several values the one that names a
 * session counts, because a gateway for a domain above may have set the others, which cannot be
 * cleared here. Of several sessions none counts.
 */
export function presentedSession(
  filter: LoginFilter,
  place: Place,
  { headers }: Pick<HttpRequest, 'headers'>,
): Eventually<Presented> {
  const as = isHostOnly(place) ? filter.hostOnly : filter.shared;
  const fields = headers.get('cookie') ?? [];
  const only = fields.length === 1 ? fields[0] : undefined;
  const known = only === undefined ? undefined : as.presented.get(only);
  if (known?.loaded === undefined) return parsed(filter, as, headers, only);
  return whenThere(filter.sessions.reread(known.loaded), loaded =>
    loaded === known.loaded
      ? known
      : remember(as, only, presented(loaded, known.xsrf, known.several)),
  );
}

function parsed(
  { sessions }: LoginFilter,
  as: PresentedAs,
  headers: HttpRequest['headers'],
  only: string | undefined,
): Eventually<Presented> {
  const ids = cookieValues(headers, as.session);
  if (ids.length === 0) return { ...presented(undefined, [], false), dead: false };
  const several = ids.length > 1;
  return whenThere(namedBy(ids.filter(isSecret), sessions), found => {
    const [loaded, ...others] = found;
    if (loaded === undefined || others.length > 0)
      return { ...presented(undefined, [], several), rivals: found.map(({ key }) => key) };
    return remember(as, only, presented(loaded, valuesAsRead(headers, as.xsrf), several));
  });
}

/** Reads the sessions that ids name. One id is read at once where no process must be asked. */
function namedBy(
  ids: readonly string[],
  sessions: SessionRecords,
): Eventually<readonly LoadedSession[]> {
  const [id, ...others] = ids;
  if (id === undefined) return [];
  if (others.length === 0) return whenThere(sessions.read(id), found => (found ? [found] : []));
  return Promise.all(ids.map(async each => sessions.read(each))).then(found =>
    found.filter(session => session !== undefined),
  );
}

function presented(
  loaded: LoadedSession | undefined,
  xsrf: readonly string[],
  several: boolean,
): Presented {
  const hasXsrf = xsrf.length === 1 && xsrf[0] === loaded?.session.xsrf;
  return { loaded, xsrf, hasXsrf, several, rivals: [], dead: loaded === undefined };
}

/**
 * A field that names no session is not worth the room, because clients can make any number of them.
 */
function remember(
  { presented: known }: PresentedAs,
  only: string | undefined,
  now: Presented,
): Presented {
  if (only === undefined) return now;
  if (now.loaded === undefined) known.delete(only);
  else known.set(only, now, only.length + now.loaded.size);
  return now;
}

/**
 * Clears cookies that name no session. Those of several sessions stay until a login ends them all.
 * Some of them cannot be cleared, and one that is left alone would count.
 */
export function deadCookies(
  { realm }: LoginFilter,
  place: Place,
  { dead, rivals, several }: Presented,
  sameSite: SameSite | undefined,
): readonly SetCookie[] {
  return dead && rivals.length === 0
    ? clearSessionCookies(realm, place, sameSite, several ? 'both forms' : 'own form')
    : [];
}

/**
 * Returns the keys of the sessions that a login ends. They are those that the browser brings now,
 * and those that it brought when the login began, since cookies may be for some paths alone.
 */
export function endedBy(
  now: Presented,
  begun: { readonly replaces?: string; readonly rivals?: readonly string[] },
): readonly string[] {
  const keys = [begun.replaces, ...(begun.rivals ?? []), now.loaded?.key, ...now.rivals];
  return [...new Set(keys)].filter(key => key !== undefined);
}

/**
 * Returns the session with a valid access token, refreshed where it must be. `refused` is called
 * with the reason when a refresh was refused. Throws what the refresh failed with (ProviderError,
 * StoreUnavailable) when the old token has expired. The session then stays.
 * @returns undefined when the user must log in
 */
export function usableSession(
  filter: LoginFilter,
  loaded: LoadedSession | undefined,
  signal: () => AbortSignal,
  refused: (reason: string) => void = () => {},
): Eventually<Session | undefined> {
  const { settings, sources } = filter;
  const state = stateOf(loaded?.session, settings.expirationSafetyMargin, sources.now());
  const step = nextStep(state, 'request');
  if (loaded === undefined || step === 'log in') return undefined;
  return step === 'use' ? loaded.session : refreshedSession(filter, loaded, state, signal, refused);
}

/** As `usableSession`, in the `state` that it calls for. */
export async function refreshedSession(
  { refreshes }: LoginFilter,
  loaded: LoadedSession,
  state: SessionState,
  signal: () => AbortSignal,
  refused: (reason: string) => void,
): Promise<Session | undefined> {
  const outcome = await refreshes.refresh(loaded, signal());
  const then = nextStep(state, outcome.kind);
  if (then === 'fail' && outcome.kind === 'failed') throw outcome.error;
  if (outcome.kind === 'refused' && outcome.reason !== undefined) refused(outcome.reason);
  if (then === 'log in') return undefined;
  return outcome.kind === 'refreshed' ? outcome.session : loaded.session;
}
