import assert from 'node:assert/strict';
import { test } from 'node:test';
import { grantedScope } from './granted-scope.ts';

const GOOGLE = 'https://www.googleapis.com/auth/userinfo.';

for (const [title, said, claims, asked, missing] of [
  ['what is listed, in any order', ['b', 'a'], undefined, ['a', 'b', 'c'], ['c']],
  ['all that was asked for, where nothing is listed', undefined, undefined, ['a', 'b'], []],
  ['nothing, by an empty list', [], undefined, ['a'], ['a']],
  ['openid, by an ID token', ['a'], { sub: 'x' }, ['a', 'openid'], []],
  ['no openid without one', ['a'], undefined, ['a', 'openid'], ['openid']],
  [
    'what Google spells as URLs',
    ['openid', `${GOOGLE}email`, `${GOOGLE}profile`],
    undefined,
    ['email', 'openid', 'profile'],
    [],
  ],
  ['one of them only', [`${GOOGLE}email`], undefined, ['email', 'profile'], ['profile']],
  [
    'email and profile, by their claims, where Entra lists one API',
    ['api://x/read'],
    { email: 'a@b.c', name: 'Ada' },
    ['api://x/read', 'email', 'profile'],
    [],
  ],
  ['profile by any of its claims', ['a'], { preferred_username: 'ada' }, ['profile'], []],
  [
    'address and phone, by their claims',
    ['a'],
    { address: { country: 'NO' }, phone_number: '1' },
    ['address', 'phone'],
    [],
  ],
  [
    'no email by an empty claim',
    ['a'],
    { email: '', name: null },
    ['email', 'profile'],
    ['email', 'profile'],
  ],
  ['no value of an API by a claim', ['a'], { write: 'yes' }, ['write'], ['write']],
  [
    'values with commas between',
    ['email,openid,profile'],
    undefined,
    ['email', 'openid', 'profile'],
    [],
  ],
  ['a value with a comma as one, when it was asked for', ['a,b'], undefined, ['a,b', 'b'], ['b']],
] as const) {
  test(`granted: ${title}`, () => {
    const granted = grantedScope(said, asked, claims);
    assert.deepEqual(
      asked.filter(value => !granted.includes(value)),
      missing,
    );
  });
}
