import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UnsecuredJWT } from 'jose';
import type { ClientAuthentication } from '#ext-authz/provider/settings.ts';
import { assertionSettings } from '#ext-authz/testing/provider-settings.ts';
import { requestWith } from '#ext-authz/testing/requests.ts';
import { clientCredentials, userCredentials } from './credential-headers.ts';

const NOW = 1_700_000_000_000;
const SECONDS = NOW / 1_000;

type Headers = { readonly [name: string]: string | readonly string[] };
const ID = { 'x-gateway-client-id': 'me' };
const SECRET = { 'x-gateway-client-secret': 's' };
const jwt = (claims: object) => `${new UnsecuredJWT({ ...claims }).encode()}AAAA`;
const assertion = (value: string | readonly string[]) => ({ 'x-gateway-client-assertion': value });
const GOOD = jwt({ exp: SECONDS + 1, sub: 'me' });

const rows: readonly (readonly [
  what: string,
  method: ClientAuthentication['method'] | 'setClientID',
  headers: Headers,
  expected: unknown,
])[] = [
  [
    'ID and secret',
    'HeaderPassword',
    { ...ID, ...SECRET },
    { kind: 'password', clientID: 'me', secret: 's' },
  ],
  [
    'ID and secret',
    'BodyPassword',
    { ...ID, ...SECRET },
    { kind: 'password', clientID: 'me', secret: 's' },
  ],
  ['no header', 'HeaderPassword', {}, 'The header X-Gateway-Client-ID is missing.'],
  ['no secret', 'BodyPassword', ID, 'The header X-Gateway-Client-Secret is missing.'],
  [
    'an empty ID',
    'HeaderPassword',
    { 'x-gateway-client-id': '', ...SECRET },
    'The header X-Gateway-Client-ID is missing.',
  ],
  [
    'an empty secret',
    'HeaderPassword',
    { ...ID, 'x-gateway-client-secret': '' },
    'The header X-Gateway-Client-Secret is missing.',
  ],
  [
    'a repeated ID',
    'HeaderPassword',
    { 'x-gateway-client-id': ['me', 'me'], ...SECRET },
    'The header X-Gateway-Client-ID is present more than once.',
  ],
  [
    'a repeated secret',
    'HeaderPassword',
    { ...ID, 'x-gateway-client-secret': ['s', 't'] },
    'The header X-Gateway-Client-Secret is present more than once.',
  ],
  [
    'an assertion besides',
    'HeaderPassword',
    { ...ID, ...SECRET, ...assertion(GOOD) },
    'The header X-Gateway-Client-Assertion is not for this path.',
  ],
  [
    'a huge secret',
    'HeaderPassword',
    { ...ID, 'x-gateway-client-secret': 's'.repeat(16_385) },
    'The header X-Gateway-Client-Secret is too long.',
  ],
  ['an assertion', 'JWTAssertion', assertion(GOOD), { kind: 'assertion', assertion: GOOD }],
  [
    'an assertion with sub',
    'setClientID',
    assertion(GOOD),
    { kind: 'assertion', assertion: GOOD, clientID: 'me' },
  ],
  [
    'an assertion without sub',
    'JWTAssertion',
    assertion(jwt({ exp: SECONDS + 1 })),
    { kind: 'assertion', assertion: jwt({ exp: SECONDS + 1 }) },
  ],
  [
    'an assertion without sub',
    'setClientID',
    assertion(jwt({ exp: SECONDS + 1 })),
    'The JWT in the header X-Gateway-Client-Assertion has no sub.',
  ],
  [
    'a sub that is no text',
    'setClientID',
    assertion(jwt({ exp: SECONDS + 1, sub: 7 })),
    'The JWT in the header X-Gateway-Client-Assertion has no sub.',
  ],
  [
    'an assertion that has expired',
    'JWTAssertion',
    assertion(jwt({ exp: SECONDS })),
    'The JWT in the header X-Gateway-Client-Assertion has expired.',
  ],
  [
    'an assertion without exp',
    'JWTAssertion',
    assertion(jwt({ sub: 'me' })),
    'The JWT in the header X-Gateway-Client-Assertion is not a signed JWT with exp.',
  ],
  [
    'an assertion without signature',
    'JWTAssertion',
    assertion(GOOD.slice(0, -4)),
    'The JWT in the header X-Gateway-Client-Assertion is not a signed JWT with exp.',
  ],
  [
    'an assertion that is no JWT',
    'JWTAssertion',
    assertion('abc'),
    'The JWT in the header X-Gateway-Client-Assertion is not a signed JWT with exp.',
  ],
  ['no assertion', 'JWTAssertion', {}, 'The header X-Gateway-Client-Assertion is missing.'],
  [
    'a repeated assertion',
    'JWTAssertion',
    assertion([GOOD, GOOD]),
    'The header X-Gateway-Client-Assertion is present more than once.',
  ],
  [
    'a secret besides',
    'JWTAssertion',
    { ...assertion(GOOD), ...SECRET },
    'The header X-Gateway-Client-Secret is not for this path.',
  ],
];

for (const [what, method, headers, expected] of rows)
  test(`${method}: ${what}`, () => {
    const authentication: ClientAuthentication =
      method === 'JWTAssertion' || method === 'setClientID'
        ? {
            method: 'JWTAssertion',
            jwtAssertion: assertionSettings({ setClientID: method === 'setClientID' }),
          }
        : { method };
    const read = clientCredentials(requestWith(headers).headers, authentication, NOW);
    assert.deepEqual('error' in read ? read.error : read.credentials, expected);
  });

test('an assertion ends with its own exp, and is counted for its sub', () => {
  const authentication = { method: 'JWTAssertion', jwtAssertion: assertionSettings() } as const;
  const read = clientCredentials(requestWith(assertion(GOOD)).headers, authentication, NOW);
  assert.ok(!('error' in read));
  assert.deepEqual([read.expiresAt, read.name], [NOW + 1_000, 'me']);
});

for (const [what, headers, expected] of [
  [
    'both',
    { 'x-gateway-username': 'me', 'x-gateway-password': 'p' },
    { username: 'me', password: 'p' },
  ],
  ['no name', { 'x-gateway-password': 'p' }, 'The header X-Gateway-Username is missing.'],
  ['no password', { 'x-gateway-username': 'me' }, 'The header X-Gateway-Password is missing.'],
  [
    'an empty password',
    { 'x-gateway-username': 'me', 'x-gateway-password': '' },
    'The header X-Gateway-Password is missing.',
  ],
  [
    'a repeated name',
    { 'x-gateway-username': ['a', 'b'], 'x-gateway-password': 'p' },
    'The header X-Gateway-Username is present more than once.',
  ],
  [
    'a repeated password',
    { 'x-gateway-username': 'me', 'x-gateway-password': ['p', 'p'] },
    'The header X-Gateway-Password is present more than once.',
  ],
] as const)
  test(`Password: ${what}`, () => {
    const read = userCredentials(requestWith(headers).headers);
    assert.deepEqual('error' in read ? read.error : read.credentials, expected);
  });

test('credentials that join to the same text are told apart', () => {
  const parts = (clientID: string, secret: string) => {
    const headers = { 'x-gateway-client-id': clientID, 'x-gateway-client-secret': secret };
    const read = clientCredentials(requestWith(headers).headers, { method: 'HeaderPassword' }, NOW);
    return 'error' in read ? undefined : JSON.stringify(read.parts);
  };
  assert.notEqual(parts('a', 'b:c'), parts('a:b', 'c'));
});
