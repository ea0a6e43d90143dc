import type { Session } from './session.ts';

/** What there is of a session when a request comes. */
export type SessionState =
  /** None, or it is over. */
  | 'none'
  /** Its access token is good. */
  | 'fresh'
  /** Its access token ends within expirationSafetyMargin, and there is a refresh token. */
  | 'ageing'
  /** Its access token is over, and there is a refresh token. */
  | 'expired';

/** What happens then: the request, and how a refresh comes out. */
export type SessionEvent = 'request' | 'refreshed' | 'refused' | 'failed';

/** What the filter does: `fail` is an answer 502 or 504, and the session stays. */
export type SessionStep = 'log in' | 'use' | 'refresh' | 'fail';

const TABLE: Readonly<Record<SessionState, Readonly<Record<SessionEvent, SessionStep>>>> = {
  none: { request: 'log in', refreshed: 'log in', refused: 'log in', failed: 'log in' },
  fresh: { request: 'use', refreshed: 'use', refused: 'log in', failed: 'use' },
  ageing: { request: 'refresh', refreshed: 'use', refused: 'log in', failed: 'use' },
  expired: { request: 'refresh', refreshed: 'use', refused: 'log in', failed: 'fail' },
};

/** State × event → step. Source: docs/adr/0014-session-store.md. */
export function nextStep(state: SessionState, event: SessionEvent): SessionStep {
  return TABLE[state][event];
}

/** `margin`: expirationSafetyMargin, in ms. */
export function stateOf(session: Session | undefined, margin: number, now: number): SessionState {
  if (session === undefined || now >= session.ends) return 'none';
  const { accessTokenEnds, refreshToken } = session;
  if (now < accessTokenEnds - margin) return 'fresh';
  if (refreshToken === undefined) return 'none';
  return now < accessTokenEnds ? 'ageing' : 'expired';
}

/** What a session's scope is worth to a rule. */
export type ScopeState = 'granted' | 'never asked' | 'not granted';

/**
 * See docs/reference/kinds/filter.md: every value of the rule must be granted, but
 * `offline_access`. One that was asked for and not granted forbids; one that was never asked for is
 * asked for. Source: docs/adr/0012-logins-in-the-browser.md.
 */
export function scopeState(
  { asked, granted }: Pick<Session, 'asked' | 'granted'>,
  rule: readonly string[],
): ScopeState {
  const missing = rule.filter(value => value !== 'offline_access' && !granted.includes(value));
  if (missing.length === 0) return 'granted';
  return missing.some(value => asked.includes(value)) ? 'not granted' : 'never asked';
}
