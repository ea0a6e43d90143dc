import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually, freshKey, MINUTE, SHORT, type TestStores, together } from './test-stores.ts';

export function describeLeases(stores: () => TestStores): void {
  test('of 100 callers one acquires the lease', async () => {
    const key = freshKey();
    const acquired = await together(stores(), 100, (store, index) =>
      store.acquire(key, `${index}`, MINUTE),
    );
    assert.equal(acquired.filter(done => done).length, 1);
  });

  test('a lease is held until its holder releases it', async () => {
    const { one, two } = stores();
    const key = freshKey();
    assert.equal(await one.acquire(key, 'one', MINUTE), true);
    assert.equal(await one.acquire(key, 'one', MINUTE), false);
    for (const other of ['two', 'on', 'one ', '', '1']) await two.release(key, other);
    assert.equal(await two.acquire(key, 'two', MINUTE), false);
    await two.release(key, 'one');
    assert.equal(await two.acquire(key, 'two', MINUTE), true);
    await one.release(key, 'one');
    assert.equal(await one.acquire(key, 'one', MINUTE), false);
  });

  test('a lease ends by its time, and then its former holder releases nothing', async () => {
    const { one, two } = stores();
    const key = freshKey();
    assert.equal(await one.acquire(key, 'one', SHORT), true);
    assert.equal(await two.acquire(key, 'two', MINUTE), false);
    await eventually(stores(), 'the lease has ended', () => two.acquire(key, 'two', MINUTE));
    await one.release(key, 'one');
    assert.equal(await one.acquire(key, 'one', MINUTE), false);
  });

  test('the release of a lease without a holder does nothing', async () => {
    assert.equal(await stores().one.release(freshKey(), 'nobody'), undefined);
  });
}
