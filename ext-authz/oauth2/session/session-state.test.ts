import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newSession, type Session, withTokens } from './session.ts';
import {
  nextStep,
  type SessionEvent,
  type SessionState,
  type SessionStep,
  scopeState,
  stateOf,
} from './session-state.ts';

const idToken = { raw: 'a.b.c', header: {}, claims: { sub: 'alice' } };
const ORIGIN = { xsrf: 'x', pending: ['p'], asked: ['openid', 'read'], sessionCookies: false };
const HOUR = 3_600_000;

function session(refreshToken?: string, expiresInSeconds: number | undefined = 60): Session {
  const tokens = {
    ...{
      accessToken: 'opaque',
      tokenType: 'Bearer' as const,
      expiresInSeconds,
      scope: undefined,
      idToken,
    },
    ...(refreshToken !== undefined && { refreshToken }),
  };
  return newSession(ORIGIN, tokens, HOUR, 0);
}

const STATES: readonly [
  what: string,
  session: Session | undefined,
  now: number,
  state: SessionState,
][] = [
  ['none', undefined, 0, 'none'],
  ['a good access token', session(), 49_999, 'fresh'],
  ['one within the margin', session(), 50_000, 'none'],
  ['one that is over', session(), 60_000, 'none'],
  ['a good one, with a refresh token', session('r'), 49_999, 'fresh'],
  ['one within the margin, with a refresh token', session('r'), 50_000, 'ageing'],
  ['one that is over, with a refresh token', session('r'), 60_000, 'expired'],
  ['unused for clientSessionMaxIdle', session('r'), HOUR, 'none'],
];

for (const [what, value, now, state] of STATES) {
  test(`a session is ${state}: ${what}`, () => {
    assert.equal(stateOf(value, 10_000, now), state);
  });
}

const STEPS: readonly [state: SessionState, event: SessionEvent, step: SessionStep][] = [
  ['none', 'request', 'log in'],
  ['fresh', 'request', 'use'],
  ['ageing', 'request', 'refresh'],
  ['ageing', 'refreshed', 'use'],
  ['ageing', 'refused', 'log in'],
  ['ageing', 'failed', 'use'],
  ['expired', 'request', 'refresh'],
  ['expired', 'refreshed', 'use'],
  ['expired', 'refused', 'log in'],
  ['expired', 'failed', 'fail'],
];

for (const [state, event, step] of STEPS) {
  test(`${state} × ${event} → ${step}`, () => {
    assert.equal(nextStep(state, event), step);
  });
}

const SCOPES: readonly [asked: string, granted: string, rule: string, state: string][] = [
  ['a b', 'a b', 'a', 'granted'],
  ['a b', 'a b', '', 'granted'],
  ['a', 'a', 'a b', 'never asked'],
  ['a b', 'a', 'b', 'not granted'],
  ['a b', 'a', 'b c', 'not granted'],
  ['a', 'a', 'offline_access', 'granted'],
  ['a offline_access', 'a', 'a offline_access', 'granted'],
  ['a', 'a', 'A', 'never asked'],
];

for (const [asked, granted, rule, state] of SCOPES) {
  test(`asked for "${asked}", granted "${granted}", wanted "${rule}": ${state}`, () => {
    const values = (text: string) => text.split(' ').filter(value => value !== '');
    assert.equal(
      scopeState({ asked: values(asked), granted: values(granted) }, values(rule)),
      state,
    );
  });
}

test('a session without lifetime ends in an hour, with a refresh token clientSessionMaxIdle after its last use', () => {
  assert.equal(newSession(ORIGIN, { ...grant(), expiresInSeconds: undefined }, 9, 0).ends, HOUR);
  assert.equal(session().ends, 60_000);
  assert.equal(session('r').ends, HOUR);
  assert.equal(withTokens(session('r'), grant(), HOUR, 1_000).ends, HOUR + 1_000);
});

test('a refresh without scope, ID token and refresh token keeps the old ones', () => {
  const before = session('r');
  const after = withTokens(before, grant(), HOUR, 0);
  assert.deepEqual(
    [after.granted, after.idToken, after.refreshToken],
    [before.granted, idToken, 'r'],
  );
  assert.equal(after.accessToken, 'new');
});

function grant() {
  return {
    accessToken: 'new',
    tokenType: 'Bearer' as const,
    expiresInSeconds: 60,
    scope: undefined,
    idToken,
  };
}
