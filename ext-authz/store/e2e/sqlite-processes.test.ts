import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { chmod, mkdir, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { StoreUnavailable } from '../record-store.ts';
import { openSqliteRecordStore } from '../sqlite-record-store.ts';
import { openSqliteStores, type SqliteTestStores } from '../testing/sqlite-stores.ts';
import { bytes, freshKey, MINUTE, textOf } from '../testing/test-stores.ts';

const WRITER = fileURLToPath(new URL('../testing/sqlite-writer.ts', import.meta.url));
const CLOCK = { now: () => 1_700_000_000_000, uptime: () => performance.now() };

describe('a file of records', () => {
  let stores: SqliteTestStores;
  before(async () => {
    stores = await openSqliteStores({ timeoutMs: 100 });
  });
  after(() => stores.close());

  const ownFile = () => {
    const file = `${stores.file}-${freshKey()}`;
    return { file, open: () => openSqliteRecordStore(file, { ...CLOCK, timeoutMs: 100 }) };
  };

  test('is still there after a restart', async () => {
    const { open } = ownFile();
    const first = await open();
    await first.create('key', bytes('value'), MINUTE);
    assert.equal(await first.count('key', 7, MINUTE), 7);
    await first.close();
    const second = await open();
    assert.equal(textOf((await second.read('key'))?.value), 'value');
    assert.equal(await second.count('key', 0, MINUTE), 7);
    await second.close();
  });

  test('has all that was answered after kill -9 in the middle of writes', async () => {
    for (let round = 0; round < 3; round += 1) {
      const { file, open } = ownFile();
      const writer = spawn(process.execPath, [WRITER, 'create', file], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const keys: string[] = [];
      for await (const line of createInterface({ input: writer.stdout }))
        if (keys.push(line) === 200 + round) writer.kill('SIGKILL');
      const store = await open();
      assert.ok(keys.length >= 200);
      for (const key of keys) assert.equal(textOf((await store.read(key))?.value), key.repeat(50));
      assert.equal(await store.create('more', bytes('v'), MINUTE), true);
      await store.close();
      assert.deepEqual(check(file), { integrity: 'ok', sizes: true });
    }
  });

  test('gives each record to one of several processes', async () => {
    const { file, open } = ownFile();
    const store = await open();
    const keys = Array.from({ length: 300 }, freshKey);
    for (const key of keys) await store.create(key, bytes('v'), MINUTE);
    const run = () => promisify(execFile)(process.execPath, [WRITER, 'take', file, ...keys]);
    const outputs = await Promise.all([run(), run(), run()]);
    const taken = outputs.flatMap(({ stdout }) => stdout.split('\n').filter(line => line !== ''));
    assert.deepEqual(taken.sort(), keys.sort());
    await store.close();
  });

  test('belongs to its owner alone, with its log and its folder, also when it did not before', async () => {
    const { file, open } = ownFile();
    await writeFile(file, '', { mode: 0o644 });
    await chmod(file, 0o644);
    const store = await open();
    await store.create('key', bytes('v'), MINUTE);
    for (const path of [file, `${file}-wal`, `${file}-shm`])
      assert.equal((await stat(path)).mode & 0o777, 0o600, path);
    assert.equal((await stat(dirname(stores.file))).mode & 0o777, 0o700);
    await store.close();
  });

  test('that another process holds makes writes wait, in their order, and no reads', async t => {
    const { file } = ownFile();
    const one = await openSqliteRecordStore(file, { ...CLOCK, timeoutMs: 30_000 });
    t.after(() => one.close());
    const key = freshKey();
    await one.create(key, bytes('v'), MINUTE);
    const release = hold(t, file);
    const order: number[] = [];
    const counts = [1, 2, 3].map(async add => order.push(await one.count(key, add, MINUTE)));
    assert.equal(textOf((await one.read(key))?.value), 'v');
    assert.deepEqual(order, []);
    release();
    await Promise.all(counts);
    assert.deepEqual(order, [1, 3, 6]);
  });

  test('that another process holds for too long refuses in time, and is usable again', async t => {
    const { one } = stores;
    const release = hold(t);
    const begin = performance.now();
    const calls = Array.from({ length: 12_000 }, () =>
      one.acquire(freshKey(), 'secret-holder', MINUTE),
    );
    const results = await Promise.allSettled(calls);
    // One after the other they would wait for 20 minutes.
    assert.ok(performance.now() - begin < 20_000, `${performance.now() - begin} ms`);
    for (const result of results) {
      assert.ok(result.status === 'rejected' && result.reason instanceof StoreUnavailable);
      assert.equal(result.reason.message, 'SQLite: another process holds the file');
    }
    release();
    assert.equal(await one.acquire(freshKey(), 'holder', MINUTE), true);
  });

  test('that is closed while writes wait refuses them', async t => {
    const { file, open } = ownFile();
    const store = await open();
    const release = hold(t, file);
    const call = assert.rejects(store.count('k', 1, MINUTE), { message: 'SQLite: closed' });
    await store.close();
    await call;
    release();
  });

  test('that is none is refused by its name and with what to do', async () => {
    const { file, open } = ownFile();
    await writeFile(file, 'this is no database'.repeat(1000));
    const spoilt = `${file} cannot be used: SQLite: the file is damaged: remove it, which costs logins and nothing else`;
    await assert.rejects(open(), { name: 'StoreUnavailable', message: spoilt });
    const later = ownFile();
    const database = new DatabaseSync(later.file);
    database.exec('PRAGMA user_version = 2');
    database.close();
    await assert.rejects(later.open(), {
      message: `${later.file} is of another version of the gateway: remove it, which costs logins and nothing else`,
    });
    const folder = ownFile();
    await mkdir(folder.file);
    await assert.rejects(folder.open(), /EISDIR|unable to open/);
  });

  /** Starts a writer in another process. The test releases it, or its end does. */
  function hold(t: { readonly after: (run: () => void) => void }, file = stores.file): () => void {
    const other = new DatabaseSync(file);
    other.exec('BEGIN IMMEDIATE');
    const release = () => {
      if (other.isOpen) other.close();
    };
    t.after(release);
    return release;
  }
});

function check(file: string): { readonly integrity: unknown; readonly sizes: boolean } {
  const database = new DatabaseSync(file);
  try {
    const one = (sql: string) => Object.values(database.prepare(sql).get() ?? {})[0];
    const sizes =
      one('SELECT count(*) FROM entries') === one("SELECT size FROM sizes WHERE name = ''") &&
      one('SELECT count(*) FROM members') === one("SELECT sum(size) FROM sizes WHERE name <> ''");
    return { integrity: one('PRAGMA integrity_check'), sizes };
  } finally {
    database.close();
  }
}
