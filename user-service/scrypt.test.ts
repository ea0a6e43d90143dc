import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limiter } from './limiter.ts';
import { passwords } from './password.ts';
import { hashByScrypt, NOBODYS_SCRYPT_HASH, verifyByScrypt } from './scrypt.ts';

test('only the password itself verifies, also where argon2 has come since', async () => {
  const stored = await hashByScrypt('pässword');
  assert.match(stored, /^\$scrypt\$ln=15,r=8,p=3\$[\w+/]{22}\$[\w+/]{43}$/);
  assert.equal(await verifyByScrypt('pässword', stored), true);
  assert.equal(await passwords(limiter(1, 1)).verify('pässword', stored), true);
  assert.equal(await verifyByScrypt('', stored), false);
});

test('no password has the hash of nobody', async () => {
  assert.equal(await verifyByScrypt('', NOBODYS_SCRYPT_HASH), false);
});

for (const phc of ['$scrypt$', '$scrypt$ln=15,r=8,p=3$', '$scrypt$ln=1,r=8,p=3$AAAA$AAAA'])
  test(`a stored hash "${phc}" is an error, not a wrong password`, async () => {
    await assert.rejects(verifyByScrypt('x', phc), /not a scrypt PHC string of ours/);
  });
