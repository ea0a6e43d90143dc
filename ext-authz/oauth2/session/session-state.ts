import type { Session } from './session.ts';

/** The state of a session when a request arrives. */
export type SessionState =
  /** There is none, or it has ended. */
  | 'none'
  /** Its access token is valid. */
  | 'fresh'
  /** Its access token ends within expirationSafetyMargin, and there is a refresh token. */
  | 'ageing'
  /** Its access token has expired, and there is a refresh token. */
  | 'expired';

/** What happens next: the request itself, or the result of a refresh. */
export type SessionEvent = 'request' | 'refreshed' | 'refused' | 'failed';

/** What the filter does. `fail` is an answer 502 or 504, and the session stays. */
export type SessionStep = 'log in' | 'use' | 'refresh' | 'fail';

const TABLE: Readonly<Record<SessionState, Readonly<Record<SessionEvent, SessionStep>>>> = {
  none: { request: 'log in', refreshed: 'log in', refused: 'log in', failed: 'log in' },
  fresh: { request: 'use', refreshed: 'use', refused: 'log in', failed: 'use' },
  ageing: { request: 'refresh', refreshed: 'use', refused: 'log in', failed: 'use' },
  expired: { request: 'refresh', refreshed: 'use', refused: 'log in', failed: 'fail' },
};

/** Returns the step for a state and an event. See docs/adr/0014-session-store.md. */
export function nextStep(state: SessionState, event: SessionEvent): SessionStep {
  return TABLE[state][event];
}

/** Returns the state of a session. `margin` is expirationSafetyMargin, in ms. */
export function stateOf(session: Session | undefined, margin: number, now: number): SessionState {
  if (session === undefined || now >= session.ends) return 'none';
  const { accessTokenEnds, refreshToken } = session;
  if (now < accessTokenEnds - margin) return 'fresh';
  if (refreshToken === undefined) return 'none';
  return now < accessTokenEnds ? 'ageing' : 'expired';
}

/** Whether a session's scope suffices for a rule. */
export type ScopeState = 'granted' | 'never asked' | 'not granted';

/**
 * Compares the scope of a session with that of a rule. Every value of the rule must be granted,
 * except `offline_access`. A value that was asked for and not granted forbids. One that was never
 * asked for is asked for. See docs/reference/kinds/filter.md and
 * docs/adr/0012-logins-in-the-browser.md.
 */
export function scopeState(
  { asked, granted }: Pick<Session, 'asked' | 'granted'>,
  rule: readonly string[],
): ScopeState {
  const missing = rule.filter(value => value !== 'offline_access' && !granted.includes(value));
  if (missing.length === 0) return 'granted';
  return missing.some(value => asked.includes(value)) ? 'not granted' : 'never asked';
}
