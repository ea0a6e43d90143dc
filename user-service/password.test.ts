import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limiter } from './limiter.ts';
import { passwords } from './password.ts';

const { hash, verify } = passwords(limiter(2, 100));

test('a hash is an argon2id PHC string under a salt of its own', async () => {
  const [one, two] = await Promise.all([hash('correct horse'), hash('correct horse')]);
  assert.match(one, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
  assert.notEqual(one, two);
});

test('only the password itself verifies', async () => {
  const stored = await hash('pässword');
  assert.equal(await verify('pässword', stored), true);
  assert.equal(await verify('password', stored), false);
  assert.equal(await verify('', stored), false);
});

test('the test vector of the reference implementation verifies, under the parameters that it names', async () => {
  const vector =
    '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc';
  assert.equal(await verify('password', vector), true);
  assert.equal(await verify('passwore', vector), false);
});

test('no user logs in without a stored hash', async () => {
  assert.equal(await verify('', undefined), false);
  assert.equal(await verify('anything', undefined), false);
});

test('a stored hash of another kind is an error, not a wrong password', async () => {
  await assert.rejects(verify('x', '$2b$12$abcdefghijklmnopqrstuv'), /not an argon2id PHC string/);
});
