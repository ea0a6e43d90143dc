import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestWith } from '#ext-authz/testing/requests.ts';
import { bearerToken } from './bearer-token.ts';

for (const [authorization, expected] of [
  [[], 'missing'],
  [['Bearer abc.def-_~+/=='], { token: 'abc.def-_~+/==' }],
  [['bearer abc'], { token: 'abc' }],
  [['BEARER   abc'], { token: 'abc' }],
  [['Basic dTpw'], 'missing'],
  [['Bearerish abc'], 'missing'],
  [['Bearer-2 abc'], 'missing'],
  [[''], 'malformed'],
  [['Bearer'], 'malformed'],
  [['Bearer '], 'malformed'],
  [['Bearer\tabc'], 'malformed'],
  [['Bearer a b'], 'malformed'],
  [['Bearer a=b'], 'malformed'],
  [['Bearer a,Bearer b'], 'malformed'],
  [['Bearer a, b'], 'malformed'],
  [['Bearer ä'], 'malformed'],
  [['Bearer a\u0000'], 'malformed'],
  [['Bearer a', 'Bearer a'], 'malformed'],
  [['Basic dTpw', 'Bearer a'], 'malformed'],
] as const)
  test(`the token of ${JSON.stringify(authorization)}`, () =>
    assert.deepEqual(
      bearerToken(authorization.length === 0 ? new Map() : requestWith({ authorization }).headers),
      expected,
    ));
