import assert from 'node:assert/strict';
import { test } from 'node:test';
import { secretsOf, shownDescription } from './shown-description.ts';

for (const [title, text, secrets, shown] of [
  [
    'what Entra says, with its trace',
    'AADSTS7000215: Invalid client secret.\r\nTrace ID: 4457d068-2a03-42b2-97f2-d55325289d86',
    [],
    'AADSTS7000215: Invalid client secret. Trace ID: 4457d068-2a03-42b2-97f2-d55325289d86',
  ],
  ['what Keycloak says', 'authentication_expired', [], 'authentication_expired'],
  [
    'no token that UAA quotes',
    'Invalid refresh token (expired): eyJhbGciOiJSUzI1NiJ9.eyJqdGkiOiIxNTgzNDFkYS02.sZ',
    [],
    'Invalid refresh token (expired): ….….sZ',
  ],
  [
    'nothing that was sent, spaces and all',
    'The password "top secret" of ada is wrong',
    ['ada', 'top secret', 'top'],
    'The password "…" of … is wrong',
  ],
  ['no secret in parts, where one is in another', 'got abcdef', ['abc', 'abcdef'], 'got …'],
  ['one line', 'a\n\u0007\u2028b', [], 'a b'],
  ['other scripts', 'Ungültig für Zoë 名', [], 'Ungültig für Zoë 名'],
  ['300 characters at most', '😀'.repeat(400), [], '😀'.repeat(300)],
] as const) {
  test(`shown: ${title}`, () => assert.equal(shownDescription(text, secrets), shown));
}

test('a secret is not shown as a form, a URL, HTML or JSON quotes it', () => {
  const secrets = secretsOf(new Headers(), `password=${encodeURIComponent('a/"b&c')}`);
  for (const quoted of ['a/"b&c', 'a%2F%22b%26c', 'a%2f%22b%26c', 'a/&quot;b&amp;c', 'a/\\"b&c'])
    assert.equal(shownDescription(`wrong: ${quoted}`, secrets), 'wrong: …');
});

test('what is no text, or has none, says nothing', () => {
  for (const text of [undefined, null, 7, {}, '', ' \n'])
    assert.equal(shownDescription(text, []), undefined);
});

test('secret are password, token and what a form has but for names and scope', () => {
  const basic = new Headers({
    authorization: `Basic ${Buffer.from('me:top+secret%21').toString('base64')}`,
  });
  const form = 'grant_type=password&scope=openid&client_id=me&username=ada&password=a+b&code=c';
  const secrets = secretsOf(basic, form);
  for (const secret of [
    'top+secret%21',
    'top secret!',
    'top%20secret!',
    'ada',
    'a b',
    'a+b',
    'a%20b',
    'c',
  ])
    assert.ok(secrets.includes(secret));
  for (const open of ['password', 'openid', 'me']) assert.ok(!secrets.includes(open));
  assert.deepEqual(
    [...new Set(secretsOf(new Headers({ authorization: 'Bearer abc' }), ''))],
    ['abc'],
  );
});
