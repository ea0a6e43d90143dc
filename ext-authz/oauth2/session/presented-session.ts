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
import type { LoadedSession } from './session-records.ts';
import { nextStep, type SessionState, stateOf } from './session-state.ts';

/**
 * The bounds of the remembered fields, which are those that name a session. The weight is their
 * length, and the size of that session.
 */
export const PRESENTED_BOUNDS: CacheBounds = { entries: 10_000, weight: 32 * 1_048_576 };

/**
 * Returns the session of a request. A `Cookie` field that named a session is not parsed again. The
 * store is asked each time whether the session is unchanged. With two different values of one
 * session cookie none counts.
 */
export function presentedSession(
  filter: LoginFilter,
  place: Place,
  { headers }: Pick<HttpRequest, 'headers'>,
): Eventually<Presented> {
  const as = presentedAs(filter, place);
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

function presentedAs({ hostOnly, shared }: LoginFilter, place: Place): PresentedAs {
  return isHostOnly(place) ? hostOnly : shared;
}

function parsed(
  { sessions }: LoginFilter,
  as: PresentedAs,
  headers: HttpRequest['headers'],
  only: string | undefined,
): Eventually<Presented> {
  const ids = cookieValues(headers, as.session);
  const [id] = ids;
  if (id === undefined) return { ...presented(undefined, [], false), dead: false };
  const several = ids.length > 1;
  const read = several || !isSecret(id) ? undefined : sessions.read(id);
  return whenThere(read, loaded => {
    const xsrf = loaded === undefined ? [] : valuesAsRead(headers, as.xsrf);
    return remember(as, only, presented(loaded, xsrf, several));
  });
}

function presented(
  loaded: LoadedSession | undefined,
  xsrf: readonly string[],
  several: boolean,
): Presented {
  const hasXsrf = xsrf.length === 1 && xsrf[0] === loaded?.session.xsrf;
  return { loaded, xsrf, hasXsrf, several, dead: loaded === undefined };
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

/** How many sessions of a request may end at once. */
const MOST_NAMED = 8;

/**
 * Returns all sessions that a request names, also where none of them counts. `several` says that
 * its cookies have different values.
 */
export async function namedSessions(
  filter: LoginFilter,
  place: Place,
  { headers }: Pick<HttpRequest, 'headers'>,
): Promise<{ readonly named: readonly LoadedSession[]; readonly several: boolean }> {
  const ids = cookieValues(headers, presentedAs(filter, place).session);
  const read = ids.filter(isSecret).slice(0, MOST_NAMED);
  const found = await Promise.all(read.map(id => filter.sessions.read(id)));
  return { named: found.filter(each => each !== undefined), several: ids.length > 1 };
}

/** Clears cookies that name no session. */
export function deadCookies(
  { realm }: LoginFilter,
  place: Place,
  { dead, several }: Presented,
  sameSite: SameSite | undefined,
): readonly SetCookie[] {
  return dead
    ? clearSessionCookies(realm, place, sameSite, several ? 'both forms' : 'own form')
    : [];
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
