import assert from 'node:assert/strict';
import { createSecretKey, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import {
  newSecret,
  openRecord,
  sealOfCredentials,
  sealOfSecret,
  sealRecord,
  storeName,
} from '../sealed-record.ts';
import { bytes, freshKey, MINUTE, type TestStores } from './test-stores.ts';

export function describeSecrecy(stores: () => TestStores): void {
  test('a thief of the store finds no secret in it, after a session has lived and while it lives', async () => {
    const secrets = await liveThrough(stores());
    const dump = await stores().dump();
    for (const [what, secret] of secrets) assert.equal(finds(dump, secret), false, what);
  });

  test('a thief of the store finds what is not sealed, so the search works', async () => {
    const { dump, one } = stores();
    const secret = newSecret(randomBytes);
    await one.create(freshKey(), bytes(`{"access_token":"${secret}"}`), MINUTE);
    assert.equal(finds(await dump(), secret), true);
    const key = freshKey();
    await one.create(key, bytes('v'), MINUTE);
    assert.equal(finds(await dump(), key), true);
  });
}

/**
 * Plays a login, a refresh, a token cache, a lease and counters. One session ends, one goes on.
 * Returns all that was secret.
 */
async function liveThrough({ one, two }: TestStores): Promise<ReadonlyMap<string, string>> {
  const scope = { kind: 'session', realm: 'web.default' };
  const storeKey = createSecretKey(randomBytes(32));
  const value = {
    accessToken: newSecret(randomBytes),
    refreshToken: newSecret(randomBytes),
    sub: 'ada-lovelace',
  };
  const credentials = ['HeaderPassword', 'client-of-ada', newSecret(randomBytes)];
  const [ended, live, address] = [
    newSecret(randomBytes),
    newSecret(randomBytes),
    '2001:db8:aaaa:bbbb::/64',
  ];
  for (const secret of [ended, live]) {
    const seal = sealOfSecret(secret, scope);
    const groups = [{ name: address, most: 10 }];
    await one.create(seal.key, sealRecord(seal, value, randomBytes), MINUTE, groups);
    const { value: sealed = bytes(''), version = '' } = (await two.read(seal.key)) ?? {};
    assert.deepEqual(openRecord(seal, sealed), value);
    assert.equal(await one.acquire(seal.key, newSecret(randomBytes), MINUTE), true);
    assert.equal(
      await two.replace(seal.key, version, sealRecord(seal, value, randomBytes), MINUTE),
      true,
    );
  }
  const cache = sealOfCredentials(storeKey, { kind: 'token', realm: 'api.default' }, credentials);
  await one.create(cache.key, sealRecord(cache, value, randomBytes), MINUTE);
  await one.count(storeName(storeKey, scope, ['refused', 'client-of-ada', address]), 1, MINUTE);
  assert.equal(await two.remove(sealOfSecret(ended, scope).key), true);
  const secrets = {
    ...value,
    ended,
    live,
    address,
    client: 'client-of-ada',
    password: credentials[2] ?? '',
  };
  return new Map([...Object.entries(secrets), ['store key', storeKey.export().toString('latin1')]]);
}

/** As it is, as hexadecimal digits of either case, or within Base64. */
function finds(dump: Buffer, secret: string): boolean {
  const raw = Buffer.from(secret, 'latin1');
  const hex = raw.toString('hex');
  const base64 = [0, 1, 2].map(offset => {
    const text = Buffer.concat([Buffer.alloc(offset), raw]).toString('base64');
    return text.slice(offset === 0 ? 0 : 4, -4);
  });
  return [secret, hex, hex.toUpperCase(), ...base64].some(form => dump.includes(form, 0, 'latin1'));
}
