import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { documentOf, parseText, problemsOf } from '#resources/testing/problem-lines.ts';

const OAUTH2 = { authorizationURL: 'https://idp.example.com', grantType: 'ClientCredentials' };
const JWT = { jwksURI: 'https://idp.example.com/keys' };

test('a Filter is for OAuth2 or for JWT', () => {
  assert.deepEqual(problemsOf('Filter', { OAuth2: OAUTH2 }), []);
  assert.deepEqual(problemsOf('Filter', { JWT }), []);
});

test("Ambassador's fields that are not served are errors with what to write here", () => {
  assert.deepEqual(problemsOf('Filter', { OAuth2: { ...OAUTH2, audience: 'a' } }), [
    'error spec.OAuth2.audience: unknown field `audience`. Remove it. `extraAuthorizationParameters` asks for one, `accessTokenJWTFilter` checks one',
  ]);
  const errorResponse = { contentType: 'text/plain' };
  assert.deepEqual(problemsOf('Filter', { JWT: { ...JWT, errorResponse } }), [
    'error spec.JWT.errorResponse.contentType: unknown field `contentType`. Write the header `Content-Type` in `headers`',
  ]);
});

const REFUSED: readonly [what: string, spec: unknown, problems: readonly string[]][] = [
  ['neither', {}, ['error spec: a Filter needs `OAuth2` or `JWT`']],
  ['neither but null', { OAuth2: null }, ['error spec: a Filter needs `OAuth2` or `JWT`']],
  [
    'both',
    { OAuth2: OAUTH2, JWT },
    ['error spec.JWT: `OAuth2` and `JWT` exclude each other. Write two Filters'],
  ],
  ['a list', { OAuth2: [] }, ['error spec.OAuth2: `OAuth2` must be a map, not a list']],
  ['no spec', undefined, ['error spec: `spec` is required: a map']],
  [
    'an unknown field',
    { JWT: { ...JWT, jwksUri: 1, isuer: 'x' } },
    [
      'warning spec.JWT.jwksUri: `jwksUri` is read as `jwksURI`. Please spell it so',
      'error spec.JWT.jwksUri: `jwksUri` and `jwksURI` are the same field. Keep one',
      'error spec.JWT.isuer: unknown field `isuer`, did you mean `issuer`?',
    ],
  ],
  [
    "a type of Ambassador's",
    { External: { auth_service: 'x' } },
    [
      'error spec.External: filters of type `External` are not served. There are `OAuth2` and `JWT`',
      'error spec: a Filter needs `OAuth2` or `JWT`',
    ],
  ],
];

for (const [what, spec, problems] of REFUSED) {
  test(`a Filter with ${what} is rejected`, () => {
    assert.deepEqual(problemsOf('Filter', spec), problems);
  });
}

test('another letter case of a name is accepted with a warning', () => {
  const spec = {
    oauth2: { ...OAUTH2, authorizationUrl: OAUTH2.authorizationURL, authorizationURL: undefined },
  };
  assert.deepEqual(problemsOf('Filter', spec), [
    'warning spec.oauth2: `oauth2` is read as `OAuth2`. Please spell it so',
    'warning spec.oauth2.authorizationUrl: `authorizationUrl` is read as `authorizationURL`. Please spell it so',
  ]);
});

test('a Filter for another gateway is left alone', () => {
  const parsed = parseText(documentOf('Filter', { ambassador_id: 'other', nonsense: true }));
  assert.deepEqual([parsed.resources, parsed.rejected, parsed.problems], [[], [], []]);
});

test('whatever is wrong with a secret, no message has its value', () => {
  const secrets: readonly unknown[] = [
    'hunter2',
    ['hunter2'],
    { hunter2: 'hunter2' },
    'hunter2\n',
    -2007,
  ];
  const filters = secrets.flatMap(secret => [
    { ...OAUTH2, grantType: 'Password', clientID: 'me', secret },
    { ...OAUTH2, grantType: 'Password', clientID: 'me', secret, secretName: 'x' },
    { ...OAUTH2, grantType: 'Password', secret, clientAuthentication: { method: 'JWTAssertion' } },
    { ...OAUTH2, secret, secretName: 5 },
  ]);
  for (const OAuth2 of filters) {
    assert.doesNotMatch(problemsOf('Filter', { OAuth2 }).join('\n'), /hunter2|2007/);
  }
});

test('the parsed secret shows in no dump, and another secret is another Filter', () => {
  const read = (secret: string) =>
    parseText(documentOf('Filter', { OAuth2: { ...OAUTH2, secret } })).resources[0];
  assert.doesNotMatch(inspect(read('hunter2')?.spec, { depth: 9, showHidden: true }), /hunter2/);
  assert.doesNotMatch(JSON.stringify(read('hunter2')?.spec), /hunter2/);
  assert.notEqual(read('hunter2')?.hash, read('hunter3')?.hash);
});

test('a Filter that has its secret written in it is not kept, one that names a Secret is', () => {
  const kept = (fields: object) =>
    parseText(documentOf('Filter', { OAuth2: { ...OAUTH2, ...fields } })).resources[0]?.document;
  assert.equal(kept({ secret: 'hunter2' }), undefined);
  assert.notEqual(kept({ secret: undefined, secretName: 'client' }), undefined);
});
