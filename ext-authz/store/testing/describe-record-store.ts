import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { StoreUnavailable } from '../record-store.ts';
import { describeCounters } from './describe-counters.ts';
import { describeGroups } from './describe-groups.ts';
import { describeLeases } from './describe-leases.ts';
import { describeRecords } from './describe-records.ts';
import { describeSecrecy } from './describe-secrecy.ts';
import { bytes, freshKey, MINUTE, type TestStores } from './test-stores.ts';

/** What every store of records promises (record-store.ts), seen by two replicas. */
export function describeRecordStore(open: () => Promise<TestStores>): void {
  let opened: TestStores;
  const stores = () => opened;

  before(async () => {
    opened = await open();
  });
  after(() => opened.close());

  describeRecords(stores);
  describeGroups(stores);
  describeLeases(stores);
  describeCounters(stores);
  describeSecrecy(stores);

  test('records, leases and counters of one key do not meet', async () => {
    const { one } = stores();
    const key = freshKey();
    assert.equal(await one.create(key, bytes('record'), MINUTE), true);
    assert.equal(await one.acquire(key, 'holder', MINUTE), true);
    assert.equal(await one.count(key, 3, MINUTE), 3);
    assert.equal(await one.remove(key), true);
    assert.equal(await one.acquire(key, 'other', MINUTE), false);
    assert.equal(await one.count(key, 1, MINUTE), 4);
  });

  test('a time or a count that is not a number is a mistake of the caller, not of the store', async () => {
    const { one } = stores();
    const key = freshKey();
    const value = bytes('');
    await assert.rejects(one.create(key, value, Number.NaN), RangeError);
    await assert.rejects(one.replace(key, '1', value, Number.NaN), RangeError);
    await assert.rejects(one.acquire(key, 'holder', Number.NaN), RangeError);
    await assert.rejects(one.count(key, 1, Number.NaN), RangeError);
    await assert.rejects(one.count(key, Number.NaN, 1), RangeError);
  });

  test('what comes after the end is refused, and a second end does nothing', async () => {
    const own = await open();
    await own.close();
    await own.one.close();
    for (const late of [
      (async () => own.one.read('k'))(),
      own.one.create('k', bytes('secret'), MINUTE, [{ name: 'g', most: 1 }]),
      own.one.replace('k', '1', bytes('secret'), MINUTE),
      own.one.take('k'),
      own.one.remove('k'),
      own.one.acquire('k', 'h', MINUTE),
      own.one.release('k', 'h'),
      own.one.count('k', 1, MINUTE),
    ])
      await assert.rejects(
        late,
        (error: unknown) => error instanceof StoreUnavailable && /closed/.test(error.message),
      );
  });
}
