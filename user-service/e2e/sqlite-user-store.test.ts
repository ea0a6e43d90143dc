import assert from 'node:assert/strict';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import { describeService } from '../testing/describe-service.ts';
import { startService } from '../testing/service-process.ts';
import { ada } from '../testing/services.ts';

describe('user-service with SQLite', () => {
  let folder: string;
  let files = 0;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'user-service-sqlite-'));
  });
  after(() => rm(folder, { recursive: true }));

  const emptyFile = () => join(folder, `state-${++files}`, 'users.sqlite');

  describeService(async () => {
    const file = emptyFile();
    return {
      environment: { DATABASE_FILE: file },
      passwordHashes: async () => {
        const database = new DatabaseSync(file, { readOnly: true });
        const rows = database.prepare('SELECT password_hash FROM users').all();
        database.close();
        return rows.map(row => String(row.password_hash));
      },
    };
  });

  test('the file, its log and its folder belong to their owner alone', async t => {
    const file = emptyFile();
    const service = await startService({ DATABASE_FILE: file });
    t.after(service.stop);
    await service.sendJson('PUT', '/user/ada', ada);
    const modes = await Promise.all(
      [file, `${file}-wal`].map(async path => (await stat(path)).mode & 0o777),
    );
    assert.deepEqual(modes, [0o600, 0o600]);
    assert.equal((await stat(join(file, '..'))).mode & 0o777, 0o700);
  });

  test('while another process holds the file, writes answer 503 in bounded time and the rest goes on', async t => {
    const file = emptyFile();
    const service = await startService({ DATABASE_FILE: file });
    t.after(service.stop);
    const other = new DatabaseSync(file);
    other.exec('BEGIN IMMEDIATE');
    const start = performance.now();
    let isOver = false;
    const put = service.sendJson('PUT', '/user/ada', ada).then(answer => {
      isOver = true;
      return { ...answer, ms: performance.now() - start };
    });
    // The write waits when the password is hashed, and some of these reads arrive then.
    let readMs = 0;
    while (!isOver) {
      const askedAt = performance.now();
      assert.equal((await service.send('GET', '/user/ada')).status, 404);
      readMs = Math.max(readMs, performance.now() - askedAt);
    }
    const { status, headers, body, ms } = await put;
    assert.deepEqual([status, headers['retry-after'], body.ok], [503, '1', false]);
    assert.ok(ms < 20_000, `${ms} ms`);
    assert.ok(readMs < ms / 2, `the read waited for the write: ${readMs} ms of ${ms} ms`);

    other.exec('ROLLBACK');
    other.close();
    assert.equal((await service.sendJson('PUT', '/user/ada', ada)).status, 201);
  });

  test('with a file that cannot be opened, users are unavailable and the instance is healthy', async t => {
    const service = await startService({ DATABASE_FILE: folder });
    t.after(service.stop);
    assert.equal((await service.send('GET', '/user/health')).status, 200);
    assert.equal((await service.send('GET', '/user/ada')).status, 503);
    assert.match(service.output(), new RegExp(`SQLite file ${folder} cannot be used`));
    assert.equal(await service.stop(), 0);
  });
});
