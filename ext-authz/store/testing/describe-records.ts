import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  bytes,
  eventually,
  freshKey,
  MINUTE,
  SHORT,
  type TestStores,
  textOf,
  together,
} from './test-stores.ts';

export function describeRecords(stores: () => TestStores): void {
  test('a record is read by every replica, byte for byte', async () => {
    const { one, two } = stores();
    const every = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    const part = new Uint8Array(Buffer.from('abcdef').buffer, 0, 0);
    for (const value of [
      every,
      every.subarray(100, 103),
      part,
      new Uint8Array(1 << 20).fill(0xff),
    ]) {
      const key = freshKey();
      assert.equal(await one.create(key, value, MINUTE), true);
      assert.deepEqual(Buffer.from((await two.read(key))?.value ?? []), Buffer.from(value));
    }
    assert.equal(await one.read(freshKey()), undefined);
  });

  test('a record is not made where there is one', async () => {
    const { one, two } = stores();
    const key = freshKey();
    assert.equal(await one.create(key, bytes('first'), MINUTE), true);
    assert.equal(await two.create(key, bytes('second'), MINUTE), false);
    assert.equal(textOf((await two.read(key))?.value), 'first');
  });

  test('keys may be any text', async () => {
    const { one, two } = stores();
    const keys = [
      '',
      '__proto__',
      'a{b}c',
      '{}',
      'r',
      'a b\n\0',
      'ключ🔑',
      "'; DROP TABLE entries; --",
      'x'.repeat(10_000),
    ];
    for (const key of keys) assert.equal(await one.create(key, bytes(key), MINUTE), true);
    for (const key of keys) assert.equal(textOf(await two.take(key)), key);
  });

  test('every write makes a new version, also of the same value', async () => {
    const { one } = stores();
    const key = freshKey();
    const versions = new Set<string | undefined>();
    await one.create(key, bytes('same'), MINUTE);
    for (let round = 0; round < 5; round += 1) {
      const version = (await one.read(key))?.version ?? '';
      versions.add(version);
      assert.equal(await one.replace(key, version, bytes('same'), MINUTE), true);
    }
    assert.equal(versions.size, 5);
  });

  test('of a version that is known no value is read, and of any other it is', async () => {
    const { one, two } = stores();
    const key = freshKey();
    await one.create(key, bytes('first'), MINUTE);
    const { version = '' } = (await one.read(key)) ?? {};
    assert.deepEqual(await two.read(key, version), { version, value: new Uint8Array() });
    for (const other of ['', '%', version.slice(0, -1), `${version}0`])
      assert.equal(textOf((await two.read(key, other))?.value), 'first');
    await one.replace(key, version, bytes('second'), MINUTE);
    assert.equal(textOf((await two.read(key, version))?.value), 'second');
    await one.remove(key);
    assert.equal(await two.read(key, version), undefined);
  });

  test('a record is replaced only in the version that is named', async () => {
    const { one, two } = stores();
    const key = freshKey();
    await one.create(key, bytes('first'), MINUTE);
    const { version = '' } = (await one.read(key)) ?? {};
    for (const wrong of ['', '%', `${version} `, version.slice(0, -1), `${version}.`])
      assert.equal(await two.replace(key, wrong, bytes('wrong'), MINUTE), false);
    assert.equal(await two.replace(key, version, bytes('second'), MINUTE), true);
    assert.equal(await one.replace(key, version, bytes('late'), MINUTE), false);
    assert.equal(textOf((await one.read(key))?.value), 'second');
  });

  test('a record that was removed and made again has no earlier version', async () => {
    const { one, two } = stores();
    const key = freshKey();
    await one.create(key, bytes('first'), MINUTE);
    const { version = '' } = (await one.read(key)) ?? {};
    assert.equal(await two.remove(key), true);
    assert.equal(await one.replace(key, version, bytes('late'), MINUTE), false);
    await two.create(key, bytes('anew'), MINUTE);
    assert.equal(await one.replace(key, version, bytes('late'), MINUTE), false);
    assert.equal(textOf((await one.read(key))?.value), 'anew');
  });

  test('a record ends by its time, for every method', async () => {
    const { one, two } = stores();
    const [read, taken, removed, replaced, long] = [
      freshKey(),
      freshKey(),
      freshKey(),
      freshKey(),
      freshKey(),
    ];
    await one.create(long, bytes('long'), MINUTE);
    await one.create(replaced, bytes('short'), MINUTE);
    const { version = '' } = (await one.read(replaced)) ?? {};
    assert.equal(await one.replace(replaced, version, bytes('shorter'), SHORT), true);
    const { version: last = '' } = (await one.read(replaced)) ?? {};
    for (const key of [taken, removed, read]) await one.create(key, bytes('short'), SHORT);
    await eventually(
      stores(),
      'the record has ended',
      async () => (await two.read(read)) === undefined,
    );
    assert.equal(await two.take(taken), undefined);
    assert.equal(await two.remove(removed), false);
    assert.equal(await two.replace(replaced, last, bytes('late'), MINUTE), false);
    assert.equal(await two.create(read, bytes('anew'), MINUTE), true);
    assert.equal(textOf((await two.read(read))?.value), 'anew');
    assert.equal(textOf((await two.read(long))?.value), 'long');
  });

  test('a replaced record lives for its new time', async () => {
    const { one, two } = stores();
    const [key, other] = [freshKey(), freshKey()];
    await one.create(key, bytes('short'), SHORT);
    const { version = '' } = (await one.read(key)) ?? {};
    assert.equal(await one.replace(key, version, bytes('long'), MINUTE), true);
    await one.create(other, bytes('short'), SHORT);
    await eventually(
      stores(),
      'the other has ended',
      async () => (await two.read(other)) === undefined,
    );
    assert.equal(textOf((await two.read(key))?.value), 'long');
  });

  test('times are rounded up to a whole millisecond, and none is too long', async () => {
    const { one } = stores();
    for (const ttl of [1e300, Number.POSITIVE_INFINITY, Number.MAX_SAFE_INTEGER, MINUTE + 0.5]) {
      const key = freshKey();
      assert.equal(await one.create(key, bytes('long'), ttl), true);
      assert.notEqual(await one.read(key), undefined);
    }
    for (const ttl of [0, -1, 0.1]) {
      const key = freshKey();
      assert.equal(await one.create(key, bytes('short'), ttl), true);
      await eventually(stores(), 'it has ended', async () => (await one.read(key)) === undefined);
    }
  });

  test('of 100 takers one gets the record', async () => {
    const key = freshKey();
    await stores().one.create(key, bytes('once'), MINUTE);
    const taken = await together(stores(), 100, store => store.take(key));
    assert.deepEqual(taken.filter(value => value !== undefined).map(textOf), ['once']);
    assert.equal(await stores().one.read(key), undefined);
  });

  test('of 100 that make, replace or remove a record one does', async () => {
    const key = freshKey();
    const made = await together(stores(), 100, (store, index) =>
      store.create(key, bytes(`${index}`), MINUTE),
    );
    const value = Number(textOf((await stores().one.read(key))?.value));
    assert.deepEqual(
      made.flatMap((done, index) => (done ? [index] : [])),
      [value],
    );
    const { version = '' } = (await stores().two.read(key)) ?? {};
    const replaced = await together(stores(), 100, store =>
      store.replace(key, version, bytes('r'), MINUTE),
    );
    assert.equal(replaced.filter(done => done).length, 1);
    const removed = await together(stores(), 100, store => store.remove(key));
    assert.equal(removed.filter(done => done).length, 1);
  });

  test('a removal wins over a replacement that comes at the same time', async () => {
    const { one, two } = stores();
    for (let round = 0; round < 50; round += 1) {
      const key = freshKey();
      await one.create(key, bytes('old'), MINUTE);
      const { version = '' } = (await one.read(key)) ?? {};
      const replace = () => one.replace(key, version, bytes('new'), MINUTE);
      const remove = () => two.remove(key);
      const [first, second] = round % 2 === 0 ? [replace, remove] : [remove, replace];
      await Promise.all([first(), second()]);
      assert.equal(await two.read(key), undefined);
    }
  });
}
