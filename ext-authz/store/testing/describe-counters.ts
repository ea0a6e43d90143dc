import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually, freshKey, MINUTE, SHORT, type TestStores, together } from './test-stores.ts';

export function describeCounters(stores: () => TestStores): void {
  test('a counter adds up over the replicas, and zero only looks', async () => {
    const { one, two } = stores();
    const key = freshKey();
    assert.equal(await one.count(key, 0, MINUTE), 0);
    assert.equal(await one.count(key, 2, MINUTE), 2);
    assert.equal(await two.count(key, 3, MINUTE), 5);
    assert.equal(await two.count(key, 0, MINUTE), 5);
    assert.equal(await one.count(key, 1.9, MINUTE), 6);
    assert.equal(await one.count(key, -3, MINUTE), 6);
  });

  test('each of 200 concurrent counts is another number', async () => {
    const key = freshKey();
    const counts = await together(stores(), 200, store => store.count(key, 1, MINUTE));
    assert.deepEqual(
      counts.sort((a, b) => a - b),
      Array.from({ length: 200 }, (_, index) => index + 1),
    );
  });

  test('a counter begins again after its window, however often it is counted meanwhile', async () => {
    const { one, two } = stores();
    const [key, idle] = [freshKey(), freshKey()];
    assert.equal(await one.count(key, 5, SHORT), 5);
    assert.equal(await one.count(idle, 5, SHORT), 5);
    await eventually(
      stores(),
      'it begins anew',
      async () => (await two.count(key, 1, SHORT)) < 5,
      20 * SHORT,
    );
    await eventually(
      stores(),
      'it holds nothing',
      async () => (await two.count(idle, 0, SHORT)) === 0,
    );
  });

  test('what is left of a window is told to all, and counting on does not make it longer', async () => {
    const { one, two } = stores();
    const key = freshKey();
    assert.equal(await one.windowLeft(key, MINUTE), 0);
    await one.count(key, 1, MINUTE);
    const left = await two.windowLeft(key, MINUTE);
    assert.ok(left > 0 && left <= MINUTE, `${left}`);
    await eventually(
      stores(),
      'less is left',
      async () => (await two.windowLeft(key, MINUTE)) < left - 20,
    );
    const before = await two.windowLeft(key, MINUTE);
    await one.count(key, 1, MINUTE);
    assert.ok((await two.windowLeft(key, MINUTE)) <= before);
    const idle = freshKey();
    await one.count(idle, 1, SHORT);
    await eventually(
      stores(),
      'nothing is left',
      async () => (await one.windowLeft(idle, SHORT)) === 0,
    );
  });

  test('looking does not begin a window', async () => {
    const { one } = stores();
    const key = freshKey();
    await one.count(key, 0, SHORT);
    assert.equal(await one.count(key, 1, MINUTE), 1);
    const other = freshKey();
    await one.count(other, 1, SHORT);
    await eventually(
      stores(),
      'another has ended',
      async () => (await one.count(other, 0, SHORT)) === 0,
    );
    assert.equal(await one.count(key, 0, MINUTE), 1);
  });

  test('a counter stops at 2^53-1, and ends all the same', async () => {
    const { one, two } = stores();
    const key = freshKey();
    assert.equal(
      await one.count(key, Number.MAX_SAFE_INTEGER - 1, SHORT),
      Number.MAX_SAFE_INTEGER - 1,
    );
    assert.equal(await one.count(key, 1, SHORT), Number.MAX_SAFE_INTEGER);
    assert.equal(await two.count(key, Number.POSITIVE_INFINITY, SHORT), Number.MAX_SAFE_INTEGER);
    assert.equal(await two.count(key, 0, SHORT), Number.MAX_SAFE_INTEGER);
    await eventually(stores(), 'it has ended', async () => (await two.count(key, 0, SHORT)) === 0);
  });
}
