import assert from 'node:assert/strict';
import { createSecretKey, randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import {
  isSecret,
  isUrlSecret,
  newSecret,
  newUrlSecret,
  openRecord,
  type RecordSeal,
  sealOfCredentials,
  sealOfSecret,
  sealRecord,
  storeName,
} from './sealed-record.ts';

const SCOPE = { kind: 'session', realm: 'web.default' };
const SECRET = 'ab'.repeat(32);
const KEY = '5119f70d981fb4181744ae33e90bd9b374c9d1ee0006e9f231cb16dbc95d9e1c';
const SEALED = '01010101010101010101010101d924771880c6efc26ade5b3388bdb25010c99a778b332b';
const STORE_KEY = createSecretKey(new Uint8Array(32).fill(7));

describe('a secret', () => {
  test('is 256 random bits as 64 lowercase hexadecimal digits', () => {
    assert.equal(
      newSecret(size => new Uint8Array(size).fill(0xaf)),
      'af'.repeat(32),
    );
    const many = new Set(Array.from({ length: 1000 }, () => newSecret(randomBytes)));
    assert.equal(many.size, 1000);
    for (const secret of many) assert.ok(isSecret(secret));
  });

  test('from outside is one only when it looks exactly like one', () => {
    for (const text of [
      '',
      'AB'.repeat(32),
      'ab'.repeat(31),
      `${SECRET}0`,
      `${SECRET}\n`,
      ` ${SECRET}`,
      'gg'.repeat(32),
    ])
      assert.equal(isSecret(text), false, JSON.stringify(text));
    assert.equal(isSecret('x'.repeat(10_000_000)), false);
  });
});

describe('a secret of a URL', () => {
  test('is 256 random bits as 43 characters of base64url', () => {
    assert.equal(
      newUrlSecret(size => new Uint8Array(size).fill(0xff)),
      `${'_'.repeat(42)}8`,
    );
    const many = new Set(Array.from({ length: 1000 }, () => newUrlSecret(randomBytes)));
    assert.equal(many.size, 1000);
    for (const secret of many) assert.ok(isUrlSecret(secret));
  });

  test('from outside is one only when it looks exactly like one', () => {
    const sound = 'a'.repeat(43);
    for (const text of [
      '',
      SECRET,
      sound.slice(1),
      `${sound}a`,
      `${sound}\n`,
      `+${sound.slice(1)}`,
    ])
      assert.equal(isUrlSecret(text), false, JSON.stringify(text));
    assert.equal(isUrlSecret('x'.repeat(10_000_000)), false);
  });
});

describe('a sealed record', () => {
  const seal = sealOfSecret(SECRET, SCOPE);
  const sealed = sealRecord(seal, { token: 'eyJ' }, randomBytes);

  test('is opened with the secret, for any value of JSON', () => {
    const own = JSON.parse('{"__proto__":{"admin":true}}');
    for (const value of [
      {},
      [],
      null,
      '',
      0,
      false,
      'ü🔑\ud800',
      { deep: [{ a: 1 }] },
      own,
      'x'.repeat(1 << 20),
    ])
      assert.deepEqual(
        openRecord(sealOfSecret(SECRET, SCOPE), sealRecord(seal, value, randomBytes)),
        value,
      );
  });

  test('shows nothing of its content, and is another one each time', () => {
    const [one, two] = [
      sealRecord(seal, 'same', randomBytes),
      sealRecord(seal, 'same', randomBytes),
    ];
    assert.notDeepEqual(one, two);
    assert.equal(Buffer.from(one).includes('same'), false);
    assert.equal(one.length, 1 + 12 + '"same"'.length + 16);
  });

  test('is under a key from which the secret cannot be found, another one for each kind and realm', () => {
    const keys = [
      seal,
      sealOfSecret(SECRET, { ...SCOPE, kind: 'attempt' }),
      sealOfSecret(SECRET, { ...SCOPE, realm: 'api.default' }),
      sealOfSecret(SECRET, { kind: 'session","web', realm: 'default' }),
      sealOfSecret(SECRET, { kind: 'session', realm: 'web.default\ud800' }),
      sealOfSecret(SECRET, { kind: 'session', realm: 'web.default\ufffd' }),
      sealOfSecret('ba'.repeat(32), SCOPE),
    ].map(({ key }) => key);
    assert.equal(new Set(keys).size, keys.length);
    for (const key of keys) assert.match(key, /^[0-9a-f]{64}$/);
    assert.equal(keys.includes(SECRET), false);
  });

  test('is as if absent to another secret, kind, realm or key', () => {
    const others: readonly RecordSeal[] = [
      sealOfSecret('ac'.repeat(32), SCOPE),
      sealOfSecret(SECRET, { ...SCOPE, kind: 'ticket' }),
      sealOfSecret(SECRET, { ...SCOPE, realm: 'web.other' }),
      { ...seal, key: `${seal.key.slice(0, -1)}x` },
      {
        ...seal,
        encryptionKey: sealOfSecret(SECRET, { ...SCOPE, realm: 'web.other' }).encryptionKey,
      },
    ];
    for (const other of others) assert.equal(openRecord(other, sealed), undefined);
  });

  test('is as if absent with any bit flipped', () => {
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const flipped = Uint8Array.from(sealed, (byte, at) =>
        at === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte,
      );
      assert.equal(openRecord(seal, flipped), undefined, `bit ${bit}`);
    }
  });

  test('is as if absent when cut off or lengthened', () => {
    for (let length = 0; length < sealed.length; length += 1) {
      assert.equal(openRecord(seal, sealed.subarray(0, length)), undefined);
      assert.equal(openRecord(seal, sealed.subarray(sealed.length - length)), undefined);
    }
    assert.equal(openRecord(seal, Buffer.concat([sealed, Uint8Array.of(0)])), undefined);
    for (let size = 0; size < 100; size += 1)
      assert.equal(openRecord(seal, randomBytes(size)), undefined);
  });

  test('of a later format is as if absent', () => {
    assert.equal(
      openRecord(
        seal,
        Uint8Array.from(sealed, (byte, at) => (at === 0 ? 2 : byte)),
      ),
      undefined,
    );
  });

  test('of what JSON cannot say is not made', () => {
    for (const value of [undefined, () => 1, Symbol('s')])
      assert.throws(() => sealRecord(seal, value, randomBytes), TypeError);
  });

  test('works for a realm of any length', () => {
    const long = sealOfSecret(SECRET, { kind: 'session', realm: 'r'.repeat(100_000) });
    assert.equal(openRecord(long, sealRecord(long, 1, randomBytes)), 1);
  });

  test('keeps its form: what a release wrote, later ones read', () => {
    const fixed = sealRecord(seal, { a: 1 }, size => new Uint8Array(size).fill(1));
    assert.equal(seal.key, KEY);
    assert.equal(Buffer.from(fixed).toString('hex'), SEALED);
    assert.deepEqual(openRecord(seal, Buffer.from(SEALED, 'hex')), { a: 1 });
  });
});

describe('the seal of credentials', () => {
  const parts = ['HeaderPassword', 'client', 'secret'];
  const seal = sealOfCredentials(STORE_KEY, SCOPE, parts);

  test('is the same for the same credentials, and opens what they sealed', () => {
    const again = sealOfCredentials(createSecretKey(new Uint8Array(32).fill(7)), SCOPE, [...parts]);
    assert.equal(again.key, seal.key);
    assert.equal(openRecord(again, sealRecord(seal, 'token', randomBytes)), 'token');
  });

  test('is another one for another store key, kind, realm or part, however the parts are cut', () => {
    const others = [
      sealOfCredentials(createSecretKey(new Uint8Array(32).fill(8)), SCOPE, parts),
      sealOfCredentials(STORE_KEY, { ...SCOPE, kind: 'other' }, parts),
      sealOfCredentials(STORE_KEY, { ...SCOPE, realm: 'other' }, parts),
      ...[
        ['HeaderPassword', 'client', 'secret', ''],
        ['HeaderPassword', 'clients', 'ecret'],
        ['HeaderPassword', 'client","secret'],
        ['HeaderPasswordclientsecret'],
        ['client', 'HeaderPassword', 'secret'],
        [],
      ].map(other => sealOfCredentials(STORE_KEY, SCOPE, other)),
    ];
    assert.equal(new Set([seal, ...others].map(({ key }) => key)).size, others.length + 1);
    const sealed = sealRecord(seal, 'token', randomBytes);
    for (const other of others) {
      assert.equal(openRecord(other, sealed), undefined);
      assert.equal(openRecord({ ...other, key: seal.key }, sealed), undefined);
    }
  });

  test("is not a counter's name, nor that of a secret", () => {
    const name = storeName(STORE_KEY, SCOPE, parts);
    assert.match(name, /^[0-9a-f]{64}$/);
    const keys = [
      name,
      seal.key,
      storeName(STORE_KEY, SCOPE, ['client']),
      sealOfSecret(parts.join(), SCOPE).key,
    ];
    assert.equal(new Set(keys).size, keys.length);
  });
});
