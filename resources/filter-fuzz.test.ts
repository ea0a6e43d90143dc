import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '#controlplane/compile/testing/random-documents.ts';
import { documentOf, parseText, problemLines } from './testing/problem-lines.ts';

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
const REFERENCE = { name: 'x', ifRequestHeader: { name: 'a', valueRegex: 'b' }, arguments: { scope: ['a'] } };
const RULES = [{ host: 'a', path: '/b', filters: [REFERENCE] }, { path: '/c' }];

const SPECS: readonly [kind: string, spec: object][] = [
  ['Filter', { OAuth2: OAUTH2 }],
  ['Filter', { JWT }],
  ['FilterPolicy', { precedence: 1, rules: RULES }],
];

const ODD: readonly unknown[] = [
  null,
  0,
  -1.5,
  1e308,
  true,
  '',
  '*://*',
  '1h',
  '{{',
  '\u0000',
  '\ud800',
  [],
  {},
  [{}],
  JSON.parse('{"__proto__": {"constructor": 1}}'),
];

/** A value with things left out, misspelt, or of another form. */
function damaged(value: unknown, random: () => number): unknown {
  if (random() < 0.08) return ODD[Math.floor(random() * ODD.length)];
  if (Array.isArray(value)) return value.filter(() => random() < 0.9).map(item => damaged(item, random));
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(() => random() < 0.85);
  return Object.fromEntries(kept.map(([key, item]) => [misspelt(key, random), damaged(item, random)]));
}

function misspelt(key: string, random: () => number): string {
  if (random() < 0.97) return key;
  return [key.toLowerCase(), `${key}x`, '__proto__', 'toString'][Math.floor(random() * 4)] ?? key;
}

test('a damaged Filter or FilterPolicy is served or refused with a reason, and no secret is told', () => {
  const random = seededRandom(1);
  const served = { good: 0, refused: 0 };
  for (let round = 0; round < 1500; round++) {
    const [kind, spec] = SPECS[round % SPECS.length] ?? ['', {}];
    const text = documentOf(kind, damaged(spec, random));
    const parsed = parseText(text);
    const lines = problemLines(parsed).join('\n');
    assert.doesNotMatch(lines, /hunter2/, text);
    assert.equal(parsed.resources.length + parsed.refused.length, 1, text);
    assert.equal(/^\d+ error/m.test(lines), parsed.refused.length === 1, text);
    served[parsed.refused.length === 1 ? 'refused' : 'good']++;
  }
  assert.ok(served.good > 50 && served.refused > 50, JSON.stringify(served));
});
