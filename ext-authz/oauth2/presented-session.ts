import { type Eventually, whenThere } from '../eventually.ts';
import type { HttpRequest } from '../http-request.ts';
import type { SameSite } from '../rule.ts';
import { isSecret } from '../store/sealed-record.ts';
import { clearSessionCookies, cookieValues, type SetCookie } from './cookies.ts';
import type { LoginFilter } from './login-filter.ts';
import type { Place } from './origin.ts';
import type { Session } from './session.ts';
import type { LoadedSession } from './session-records.ts';
import { nextStep, type SessionState, stateOf } from './session-state.ts';

/** What a request's session cookie comes to. */
export type Presented = {
  readonly loaded: LoadedSession | undefined;
  /** Different values: none counts. */
  readonly several: boolean;
  /** There is a cookie that names no session. */
  readonly dead: boolean;
};

/** Source: decisions, "Two different values of one session cookie". */
export function presentedSession(
  { cookies, sessions }: LoginFilter,
  { headers }: Pick<HttpRequest, 'headers'>,
): Eventually<Presented> {
  const [id, ...others] = cookieValues(headers, cookies.session);
  if (id === undefined) return NONE;
  const several = others.length > 0;
  const read = several || !isSecret(id) ? undefined : sessions.read(id);
  return whenThere(read, loaded => ({ loaded, several, dead: loaded === undefined }));
}

const NONE: Presented = { loaded: undefined, several: false, dead: false };

/** Clears what names no session. */
export function deadCookies(
  { realm }: LoginFilter,
  place: Place,
  { dead, several }: Presented,
  sameSite: SameSite | undefined,
): readonly SetCookie[] {
  return dead ? clearSessionCookies(realm, place, sameSite, several ? 'both forms' : 'own form') : [];
}

/**
 * The session with a good access token, refreshed where it must be; undefined: log in. Throws what the refresh failed with (ProviderError,
 * StoreUnavailable) when the old token is over; then the session stays.
 */
export function usableSession(
  filter: LoginFilter,
  loaded: LoadedSession | undefined,
  signal: () => AbortSignal,
): Eventually<Session | undefined> {
  const { settings, sources } = filter;
  const state = stateOf(loaded?.session, settings.expirationSafetyMargin, sources.now());
  const step = nextStep(state, 'request');
  if (loaded === undefined || step === 'log in') return undefined;
  return step === 'use' ? loaded.session : refreshedSession(filter, loaded, state, signal);
}

async function refreshedSession(
  { refreshes }: LoginFilter,
  loaded: LoadedSession,
  state: SessionState,
  signal: () => AbortSignal,
): Promise<Session | undefined> {
  const outcome = await refreshes.refresh(loaded, signal());
  const then = nextStep(state, outcome.kind);
  if (then === 'fail' && outcome.kind === 'failed') throw outcome.error;
  if (then === 'log in') return undefined;
  return outcome.kind === 'refreshed' ? outcome.session : loaded.session;
}
