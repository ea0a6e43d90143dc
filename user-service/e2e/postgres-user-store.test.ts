import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { Client } from 'pg';
import { until } from '#redis/testing/until.ts';
import { postgresUserStore } from '../postgres-user-store.ts';
import { describeService } from '../testing/describe-service.ts';
import { type PostgresServer, query, startPostgres } from '../testing/postgres-server.ts';
import { startService } from '../testing/service-process.ts';
import { ada } from '../testing/services.ts';

const started = await startPostgres().catch(
  (error: unknown) => `PostgreSQL does not run here: ${String(error)}`,
);
const skip = typeof started === 'string' ? started : false;

describe('user-service with PostgreSQL', { skip }, () => {
  if (typeof started === 'string') return;
  const postgres: PostgresServer = started;
  let databases = 0;
  const emptyDatabase = () => postgres.createDatabase(`users_${++databases}`);

  after(() => postgres.remove());

  describeService(async () => {
    const url = await emptyDatabase();
    return {
      environment: { DATABASE_URL: url },
      passwordHashes: async () =>
        (await query(url, 'SELECT password_hash FROM users')).map(row => String(row.password_hash)),
    };
  });

  test('eight stores that create the table in the same moment all find it', async t => {
    for (let round = 0; round < 5; round += 1) {
      const url = await emptyDatabase();
      const stores = Array.from({ length: 8 }, () => postgresUserStore(url, assert.ifError));
      t.after(() => Promise.all(stores.map(store => store.close())));
      // all are connected
      await Promise.all(stores.map(store => store.find('ada').catch(() => undefined)));
      await Promise.all(stores.map(store => store.createTable()));
    }
  });

  test('stopped is a 503, and over as soon as it is back', async t => {
    const service = await startService({ DATABASE_URL: await emptyDatabase() });
    t.after(service.stop);
    const { uuid } = (await service.sendJson('PUT', '/user/ada', ada)).body;

    await postgres.stop();
    for (const [method, path] of [
      ['GET', '/user/ada'],
      ['PUT', '/user/eve'],
      ['POST', '/user/ada/login'],
    ] as const) {
      const { status, body } = await service.sendJson(method, path, ada);
      assert.deepEqual(
        [status, body.ok, body.error],
        [503, false, 'the store of users does not answer, try again'],
      );
    }
    assert.equal((await service.send('GET', '/user/health')).status, 200);

    await postgres.start();
    const { status, body } = await service.send('GET', '/user/ada');
    assert.deepEqual([status, body.uuid], [200, uuid]);
    assert.doesNotMatch(service.output(), /postgres-secret|argon2|correct horse/);
    assert.equal(await service.stop(), 0);
  });

  test('away at boot: the instance is healthy, and creates its table when PostgreSQL comes', async t => {
    const url = await emptyDatabase();
    await postgres.stop();
    const service = await startService({ DATABASE_URL: url });
    t.after(service.stop);
    assert.equal((await service.send('GET', '/user/health')).status, 200);
    assert.equal((await service.sendJson('PUT', '/user/ada', ada)).status, 503);

    await postgres.start();
    const created = async () => (await service.sendJson('PUT', '/user/ada', ada)).status === 201;
    await until('the user is created', created, 30_000);
  });

  test('that hangs is a 503 in bounded time, and does not hold up the stop', async t => {
    const url = await emptyDatabase();
    const service = await startService({ DATABASE_URL: url });
    t.after(service.stop);
    const lock = new Client({ connectionString: url });
    await lock.connect();
    await lock.query('BEGIN; LOCK TABLE users');
    const stuck = service.send('GET', '/user/ada'); // has a connection, waits for the table
    postgres.signal('SIGSTOP');
    const waiting = service.send('GET', '/user/ada'); // gets no connection
    const start = performance.now();
    assert.deepEqual(
      (await Promise.all([stuck, waiting])).map(({ status }) => status),
      [503, 503],
    );
    assert.ok(performance.now() - start < 20_000);
    assert.equal(await service.stop(), 0);
    postgres.signal('SIGCONT');
    await lock.end();
  });

  test('a role that may not create tables is enough once the table is there', async t => {
    const url = await emptyDatabase();
    await (await startService({ DATABASE_URL: url })).stop();
    await query(url, "CREATE ROLE app LOGIN PASSWORD 'app'; GRANT SELECT, INSERT ON users TO app");
    const asApp = Object.assign(new URL(url), { username: 'app', password: 'app' }).href;
    const service = await startService({ DATABASE_URL: asApp });
    t.after(service.stop);
    assert.equal((await service.sendJson('PUT', '/user/ada', ada)).status, 201);
  });
});
