import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RecordGroup } from '../record-store.ts';
import {
  bytes,
  eventually,
  freshKey,
  MINUTE,
  SHORT,
  type TestStores,
  together,
} from './test-stores.ts';

export function describeGroups(stores: () => TestStores): void {
  const makeAll = async (keys: readonly string[], groups: readonly RecordGroup[], ttl = MINUTE) => {
    for (const key of keys)
      assert.equal(await stores().one.create(key, bytes('v'), ttl, groups), true);
  };
  const left = async (keys: readonly string[]) => {
    const records = await Promise.all(keys.map(key => stores().two.read(key)));
    return keys.filter((_, index) => records[index] !== undefined);
  };
  const someKeys = (length: number) => Array.from({ length }, freshKey);
  const group = (most: number) => ({ name: freshKey(), most });

  test('of a group the newest are kept', async () => {
    const keys = someKeys(20);
    await makeAll(keys, [group(16)]);
    assert.deepEqual(await left(keys), keys.slice(4));
  });

  test('a group of one holds the last', async () => {
    const keys = someKeys(5);
    await makeAll(keys, [group(1)]);
    assert.deepEqual(await left(keys), keys.slice(4));
  });

  test('the fullest of several groups decides', async () => {
    const [wide, narrow, other] = [group(6), group(2), group(2)];
    const [first, second] = [someKeys(4), someKeys(4)];
    await makeAll(first, [wide, narrow]);
    await makeAll(second, [wide, other]);
    assert.deepEqual(await left([...first, ...second]), [...first.slice(2), ...second.slice(2)]);
    const more = someKeys(4);
    await makeAll(more, [wide]);
    assert.deepEqual(await left([...first, ...second, ...more]), [...second.slice(2), ...more]);
  });

  test('a group is removed as a whole, and others stay', async () => {
    const [whole, other] = [group(100), group(100)];
    const [gone, both, kept] = [someKeys(3), someKeys(2), someKeys(2)];
    await makeAll(gone, [whole]);
    await makeAll(both, [whole, other]);
    await makeAll(kept, [other]);
    assert.equal(await stores().one.removeGroup(whole.name), 5);
    assert.deepEqual(await left([...gone, ...both, ...kept]), kept);
    assert.equal(await stores().two.removeGroup(whole.name), 0);
    assert.equal(await stores().two.removeGroup(freshKey()), 0);
  });

  test('a group lists its keys, the newest first, also those that live longer than they were made for', async () => {
    const all = group(100);
    const keys = someKeys(3);
    await makeAll(keys, [all], SHORT);
    const [renewed = ''] = keys;
    const version = (await stores().one.read(renewed))?.version ?? '';
    assert.equal(await stores().one.replace(renewed, version, bytes('w'), MINUTE, [all]), true);
    assert.deepEqual(await stores().two.members(freshKey(), 10), []);
    await eventually(stores(), 'the others end', async () => (await left(keys)).length === 1);
    assert.ok((await stores().two.members(all.name, 10)).includes(renewed));
    assert.equal((await stores().two.members(all.name, 1)).length, 1);
    assert.equal(await stores().two.removeGroup(all.name), 1);
    assert.deepEqual(await left(keys), []);
  });

  test('other groups and records without a group stay', async () => {
    const [alone, foreign, keys] = [someKeys(1), someKeys(1), someKeys(4)];
    await makeAll(alone, []);
    await makeAll(foreign, [group(2)]);
    await makeAll(keys, [group(2)]);
    assert.deepEqual(await left([...alone, ...foreign, ...keys]), [
      ...alone,
      ...foreign,
      ...keys.slice(2),
    ]);
  });

  test('a record that is taken, removed or put out gives up its places', async () => {
    const { one } = stores();
    const [wide, narrow] = [group(3), group(1)];
    const [kept = '', taken = '', removed = '', ...more] = someKeys(6);
    await makeAll([kept, taken, removed], [wide]);
    assert.notEqual(await one.take(taken), undefined);
    assert.equal(await one.remove(removed), true);
    await makeAll(more, [wide, narrow]);
    assert.deepEqual(await left([kept, ...more]), [kept, ...more.slice(2)]);
  });

  test('a replaced record keeps its places', async () => {
    const { one } = stores();
    const both = group(2);
    const [old = '', ...more] = someKeys(3);
    await makeAll([old], [both]);
    const { version = '' } = (await one.read(old)) ?? {};
    assert.equal(await one.replace(old, version, bytes('new'), MINUTE), true);
    await makeAll(more, [both]);
    assert.deepEqual(await left([old, ...more]), more);
  });

  test('a record that has ended does not count for long', async () => {
    const both = group(2);
    const [ended = '', ...more] = someKeys(3);
    await makeAll([ended], [both], SHORT);
    await eventually(stores(), 'it has ended', async () => (await left([ended])).length === 0);
    await makeAll(more, [both]);
    assert.deepEqual(await left(more), more);
  });

  test('a group named twice counts once, and a record that is there already changes nothing', async () => {
    const { one } = stores();
    const both = group(2);
    const keys = someKeys(2);
    await makeAll(keys, [both, both]);
    assert.equal(await one.create(keys[1] ?? '', bytes('again'), MINUTE, [both]), false);
    assert.deepEqual(await left(keys), keys);
  });

  test('names of groups may be any text', async () => {
    for (const name of [
      '',
      '__proto__',
      'a.b,c',
      '{}',
      '2001:db8::/64',
      'ü🔑\0',
      'x'.repeat(10_000),
    ]) {
      const keys = someKeys(2);
      await makeAll(keys, [{ name, most: 1 }]);
      assert.deepEqual(await left(keys), keys.slice(1));
    }
  });

  test('a bound that was lowered is reached after some more', async () => {
    const { name } = group(0);
    const [before, after] = [someKeys(20), someKeys(20)];
    await makeAll(before, [{ name, most: 20 }]);
    await makeAll(after, [{ name, most: 2 }]);
    assert.deepEqual(await left([...before, ...after]), after.slice(18));
  });

  test('the bound holds when 200 come at once', async () => {
    const many = group(16);
    const keys = someKeys(200);
    await together(stores(), 200, (store, index) =>
      store.create(keys[index] ?? '', bytes('v'), MINUTE, [many]),
    );
    const last = someKeys(16);
    await makeAll(last, [many]);
    assert.deepEqual(await left(last), last);
    assert.deepEqual(await left(keys), []);
  });
}
