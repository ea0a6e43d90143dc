import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { storeFault } from './store-fault.ts';
import { openSqliteStores } from './testing/sqlite-stores.ts';

async function opened(t: { after(run: () => Promise<void>): void }) {
  const stores = await openSqliteStores({ timeoutMs: 20 });
  t.after(stores.close);
  return stores;
}

test('a store that answers has no fault, and is asked once', async t => {
  const { one } = await opened(t);
  assert.equal(await storeFault(one, () => assert.fail()), undefined);
});

test('a file that is damaged is a fault, with what to do', async t => {
  const { file, one } = await opened(t);
  const other = new DatabaseSync(file);
  other.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  other.close();
  await writeFile(file, 'damaged'.repeat(20_000));
  assert.match(
    (await storeFault(one, async () => {}))?.reason ?? '',
    /^SQLite: the file is damaged: remove it, which costs logins and nothing else$/,
  );
});

test('a file that another process holds once is no fault, and one that it goes on to hold is', async t => {
  const { file, one } = await opened(t);
  const other = new DatabaseSync(file);
  t.after(async () => other.close());
  other.exec('BEGIN IMMEDIATE');
  const held = await storeFault(one, async () => {});
  assert.deepEqual(held, { reason: 'SQLite: another process holds the file', isRead: true });
  assert.equal(await storeFault(one, async () => other.exec('ROLLBACK')), undefined);
});
