import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAnswer, assertFailure } from './assert-answer.ts';
import { ada, type Services } from './services.ts';

/** Describes health, create and read, on two instances. */
export function describeUsers(services: () => Services): void {
  test('each instance says that it is healthy, and which one it is', async () => {
    const { one, two } = services();
    for (const [service, hostname] of [
      [one, 'one'],
      [two, 'two'],
    ] as const) {
      const { status, body } = await service.send('GET', '/user/health');
      assert.equal(status, 200);
      assert.deepEqual(Object.keys(body).sort(), ['hostname', 'msg', 'ok', 'resolvedname']);
      assert.equal(body.hostname, hostname);
      assert.match(String(body.msg), /OK/);
    }
  });

  test('a created user is the same on every instance, and its password is never returned', async () => {
    const { one, two } = services();
    const created = await one.sendJson('PUT', '/user/ada', ada);
    assert.equal(created.status, 201);
    const { uuid, resolvedname } = created.body;
    assert.match(String(uuid), /^[0-9A-F]{32}$/);
    const record = { fullname: ada.fullname, hostname: 'one', ok: true, resolvedname, uuid };
    assert.deepEqual(created.body, record);
    assertAnswer(await one.send('GET', '/user/ada'), 200, record);
    assertAnswer(await two.send('GET', '/user/ada'), 200, { ...record, hostname: 'two' });
  });

  test('the same PUT again finds the same record, and another password or full name is a conflict', async () => {
    const { one, two } = services();
    const { uuid } = (await one.sendJson('PUT', '/user/again', ada)).body;
    const again = await two.sendJson('PUT', '/user/again', { ...ada, ignored: true });
    assert.deepEqual([again.status, again.body.uuid], [200, uuid]);
    for (const other of [{ password: 'other' }, { fullname: 'Other' }]) {
      const conflict = await two.sendJson('PUT', '/user/again', { ...ada, ...other });
      assertFailure(conflict, 409, /exists with another full name or password/);
    }
    assert.equal((await one.send('GET', '/user/again')).body.fullname, ada.fullname);
  });

  test('a username may be percent-encoded', async () => {
    const { one } = services();
    assert.equal((await one.sendJson('PUT', '/user/bob%40example%2Ecom', ada)).status, 201);
    assert.equal((await one.send('GET', '/user/bob@example.com')).status, 200);
  });

  test('texts of any language and the longest allowed are kept as they are', async () => {
    const { one, two } = services();
    const fullname = `Zoë 李小龍 𝒜'; DROP TABLE users; -- "\\ \u202e${'x'.repeat(200)}`;
    const password = 'é𝒜'.repeat(512);
    assert.equal((await one.sendJson('PUT', '/user/unicode', { fullname, password })).status, 201);
    assert.equal((await two.send('GET', '/user/unicode')).body.fullname, fullname);
    assert.equal((await two.sendJson('POST', '/user/unicode/login', { password })).status, 200);
  });

  test('of many equal PUTs at once on two instances exactly one creates', async () => {
    const { one, two } = services();
    const puts = Array.from({ length: 16 }, (_, i) =>
      (i % 2 ? one : two).sendJson('PUT', '/user/race', ada),
    );
    const answers = await Promise.all(puts);
    assert.deepEqual(answers.map(({ status }) => status).sort(), [...Array(15).fill(200), 201]);
    assert.equal(new Set(answers.map(({ body }) => body.uuid)).size, 1);
  });

  test('of many different PUTs at once on two instances one wins and the others conflict', async () => {
    const { one, two } = services();
    const puts = Array.from({ length: 8 }, (_, i) =>
      (i % 2 ? one : two).sendJson('PUT', '/user/duel', { ...ada, fullname: `Ada ${i}` }),
    );
    const statuses = (await Promise.all(puts)).map(({ status }) => status);
    assert.deepEqual(statuses.sort(), [201, ...Array(7).fill(409)]);
  });
}
