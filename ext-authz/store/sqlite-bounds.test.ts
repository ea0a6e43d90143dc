import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { until } from '#redis/testing/until.ts';
import { openSqliteStores, type SqliteTestStores } from './testing/sqlite-stores.ts';
import { bytes, freshKey, MINUTE, textOf } from './testing/test-stores.ts';

describe('what a file of records holds', () => {
  test('ends at its very millisecond', async t => {
    const { one, pass } = await opened(t);
    await one.create('record', bytes('v'), 100);
    assert.equal(await one.acquire('lease', 'one', 100), true);
    assert.equal(await one.count('counter', 1, 100), 1);
    pass(99);
    assert.equal(textOf((await one.read('record'))?.value), 'v');
    assert.equal(await one.acquire('lease', 'two', 100), false);
    assert.equal(await one.count('counter', 1, 100), 2);
    pass(1);
    assert.equal(await one.read('record'), undefined);
    assert.equal(await one.acquire('lease', 'two', 100), true);
    assert.equal(await one.count('counter', 1, 100), 1);
  });

  test('goes after its end, a little with each write, of whichever process', async t => {
    const stores = await opened(t);
    const { one, pass, two } = stores;
    for (let index = 0; index < 100; index += 1) await one.create(freshKey(), bytes('v'), 100);
    for (let index = 0; index < 100; index += 1) await one.count(freshKey(), 1, 200);
    assert.equal(entries(stores), 200);
    pass(1000);
    await two.acquire('lease', 'one', MINUTE);
    assert.equal(entries(stores), 197);
    for (let index = 0; index < 60; index += 1) await two.count('counter', 1, MINUTE);
    assert.equal(entries(stores), 2);
  });

  test('is bounded: what ends first goes, but never what has just come', async t => {
    const stores = await opened(t, 50);
    const { one, two } = stores;
    await one.create('session', bytes('long'), MINUTE);
    for (let index = 0; index < 200; index += 1) await two.count(freshKey(), 1, 1000 + index);
    assert.equal(entries(stores), 50);
    assert.equal(textOf((await one.read('session'))?.value), 'long');
    for (let index = 0; index < 100; index += 1)
      await one.create(freshKey(), bytes('v'), 2 * MINUTE);
    assert.equal(await one.acquire('lease', 'one', 10), true);
    assert.equal(await two.acquire('lease', 'two', 10), false);
    assert.equal(entries(stores), 50);
  });

  test('says that it is full, once a minute', async t => {
    let times = 0;
    const onFull = () => {
      times += 1;
    };
    const stores = await openSqliteStores({ maxRecords: 50, onFull });
    t.after(stores.close);
    const fill = async (count: number) => {
      for (let index = 0; index < count; index += 1)
        await stores.one.count(freshKey(), 1, 10 * MINUTE);
    };
    await fill(50);
    assert.equal(times, 0);
    await fill(50);
    assert.equal(times, 1);
    stores.pass(MINUTE);
    await fill(50);
    assert.equal(times, 2);
  });

  test('stays as small as its bounds while an unknown client begins 3,000 logins', async t => {
    const stores = await opened(t);
    for (let index = 0; index < 3000; index += 1)
      await stores.one.create(freshKey(), bytes('v'), 10 * MINUTE, [
        { name: freshKey(), most: 16 },
        { name: `client ${index % 20}`, most: 10 },
        { name: 'gateway', most: 100 },
      ]);
    assert.equal(entries(stores), 100);
    assert.equal(rows(stores, 'members'), 300);
    assert.equal(rows(stores, 'sizes'), 1 + 100 + 20 + 1);
  });

  test('gets from its log into the file within seconds, without being closed', async t => {
    const { file, one } = await opened(t);
    const key = freshKey();
    await one.create(key, bytes('v'), MINUTE);
    assert.equal((await readFile(file)).includes(key), false);
    await until('it is in the file', async () => (await readFile(file)).includes(key));
  });

  test('of a counter whose clock was set back begins again', async t => {
    const { one, pass } = await opened(t);
    assert.equal(await one.count('counter', 5, 1000), 5);
    pass(-500);
    assert.equal(await one.count('counter', 0, 1000), 0);
    assert.equal(await one.count('counter', 1, 1000), 1);
    assert.equal(await one.count('counter', 1, 1000), 2);
  });

  async function opened(
    t: { readonly after: (run: () => Promise<void>) => void },
    maxRecords = 1000,
  ): Promise<SqliteTestStores> {
    const stores = await openSqliteStores({ maxRecords });
    t.after(stores.close);
    return stores;
  }

  function entries(stores: SqliteTestStores): number {
    return rows(stores, 'entries');
  }

  function rows({ file }: SqliteTestStores, table: string): number {
    const database = new DatabaseSync(file, { readOnly: true });
    const row = database.prepare(`SELECT count(*) AS rows FROM ${table}`).get();
    database.close();
    return Number(row?.rows);
  }
});
