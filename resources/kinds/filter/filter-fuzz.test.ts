import assert from 'node:assert/strict';
import { test } from 'node:test';
import { damaged } from '#controlplane/compile/testing/damaged.ts';
import { cases } from '#protos/testing/cases.ts';
import { seededRandom } from '#protos/testing/random.ts';
import { documentOf, parseText, problemLines } from '#resources/testing/problem-lines.ts';

const OAUTH2 = {
  authorizationURL: 'https://idp',
  grantType: 'AuthorizationCode',
  clientAuthentication: {
    method: 'JWTAssertion',
    jwtAssertion: { signingMethod: 'HS256', otherClaims: { a: [1] } },
  },
  clientID: 'me',
  secret: 'hunter2',
  protectedOrigins: [{ origin: 'https://a', internalOrigin: '*://b' }, { origin: 'https://b' }],
  useSessionCookies: { ifRequestHeader: { name: 'a', value: 'hunter2' } },
  extraAuthorizationParameters: { prompt: 'x' },
  accessTokenJWTFilter: { name: 'j', arguments: { scope: ['a'] } },
  injectRequestHeaders: [{ name: 'a', value: 'b' }],
  maxStale: '1s',
};
const JWT = {
  jwksURI: 'https://a',
  validAlgorithms: ['RS256'],
  errorResponse: { headers: [{ name: 'a', value: 'b' }] },
};
const REFERENCE = {
  name: 'x',
  ifRequestHeader: { name: 'a', valueRegex: 'b' },
  arguments: { scope: ['a'] },
};
const RULES = [{ host: 'a', path: '/b', filters: [REFERENCE] }, { path: '/c' }];

const SPECS: readonly [kind: string, spec: object][] = [
  ['Filter', { OAuth2: OAUTH2 }],
  ['Filter', { JWT }],
  ['FilterPolicy', { precedence: 1, rules: RULES }],
];

const ROUNDS = cases({ all: 1500, quick: 150 });

test('a damaged Filter or FilterPolicy is served or rejected with a reason, and no secret is told', () => {
  const random = seededRandom(1);
  const served = { good: 0, rejected: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    const [kind, spec] = SPECS[round % SPECS.length] ?? ['', {}];
    const text = documentOf(kind, damaged(spec, random, 0.08));
    const parsed = parseText(text);
    const lines = problemLines(parsed).join('\n');
    assert.doesNotMatch(lines, /hunter2/, text);
    assert.equal(parsed.resources.length + parsed.rejected.length, 1, text);
    assert.equal(/^\d+ error/m.test(lines), parsed.rejected.length === 1, text);
    served[parsed.rejected.length === 1 ? 'rejected' : 'good']++;
  }
  assert.ok(served.good > ROUNDS / 30 && served.rejected > ROUNDS / 30, JSON.stringify(served));
});
