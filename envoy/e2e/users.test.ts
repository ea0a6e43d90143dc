import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { claimPortOffset, type PortOffset } from './port-offset.ts';
import { type RawAnswer, request } from './request.ts';
import { type System, startSystem } from './system.ts';

const PASSWORD = 'correct horse battery staple';
const WRONG_PASSWORD = 'incorrect mule';
const JSON_BODY = { 'Content-Type': 'application/json' };

/**
 * Returns the answer to a client that reads nothing before it has sent all, as urllib and many
 * others do.
 */
async function sendThenRead(edge: string, path: string, size: number): Promise<string> {
  const { hostname, port } = new URL(edge);
  const socket = connect(Number(port), hostname).pause();
  socket.write(
    `PUT ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: ${size}\r\n\r\n`,
  );
  await promisify<Buffer>(socket.write.bind(socket))(Buffer.alloc(size, 'x'));
  return text(socket);
}

type User = { readonly fullname: string; readonly uuid: string; readonly hostname: string };

describe('a user', () => {
  const folder = mkdtempSync(join(tmpdir(), 'e2e-users-'));
  const state = join(folder, 'state');
  const answers: RawAnswer[] = [];
  let port: PortOffset;
  let system: System;

  before(async () => {
    port = await claimPortOffset();
    system = await startSystem({ instances: 2, state, port });
  });
  after(async () => {
    await system.stop();
    port.release();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Sends a request to the edge, and keeps the answer for the search for passwords. */
  async function ask(method: string, path: string, body?: object): Promise<RawAnswer> {
    const content = body === undefined ? {} : { headers: JSON_BODY, body: JSON.stringify(body) };
    const answer = await request(system.edge, path, { method, ...content });
    answers.push(answer);
    return answer;
  }

  /** Returns the record as each instance gives it. */
  async function fromEachInstance(): Promise<readonly User[]> {
    const all = [await ask('GET', '/user/grace'), await ask('GET', '/user/grace')];
    for (const { body, status } of all) assert.equal(status, 200, body);
    return all.map(({ body }) => JSON.parse(body) as User);
  }

  function isSameRecord(users: readonly User[]): User {
    const [first, second] = users;
    assert.ok(first !== undefined && second !== undefined);
    assert.notEqual(first.hostname, second.hostname);
    assert.deepEqual([second.fullname, second.uuid], [first.fullname, first.uuid]);
    return first;
  }

  test('is made, and is the same whichever instance answers', async () => {
    const made = await ask('PUT', '/user/grace', { fullname: 'Grace Hopper', password: PASSWORD });
    assert.equal(made.status, 201, made.body);
    const { fullname, uuid } = isSameRecord(await fromEachInstance());
    assert.equal(fullname, 'Grace Hopper');
    assert.match(uuid, /^[0-9A-F]{32}$/);
    assert.equal((JSON.parse(made.body) as User).uuid, uuid);
  });

  test('logs in at either instance with the right password only', async () => {
    for (const [password, status] of [
      [PASSWORD, 200],
      [PASSWORD, 200],
      [WRONG_PASSWORD, 401],
      [WRONG_PASSWORD, 401],
    ] as const) {
      assert.equal((await ask('POST', '/user/grace/login', { password })).status, status);
    }
  });

  test('is still there when everything was stopped and started again', async () => {
    const before = isSameRecord(await fromEachInstance());
    await system.stop();
    system = await startSystem({ instances: 2, state, port });
    const { fullname, uuid } = isSameRecord(await fromEachInstance());
    assert.deepEqual([fullname, uuid], [before.fullname, before.uuid]);
    assert.equal((await ask('POST', '/user/grace/login', { password: PASSWORD })).status, 200);
  });

  test('has a password that no answer and no log tells', async t => {
    const logs = readdirSync(join(state, 'logs')).map(name => join(state, 'logs', name));
    const texts = [...logs.map(log => readFileSync(log, 'utf8')), system.gateway.said()];
    assert.ok(
      texts.some(text => text.includes('/user/grace/login')),
      'the logs tell of the logins',
    );
    for (const text of [...texts, ...answers.map(answer => JSON.stringify(answer))]) {
      for (const secret of [PASSWORD, WRONG_PASSWORD, 'argon2'])
        assert.ok(!text.includes(secret), text);
    }
    t.diagnostic(`searched ${logs.length} logs and ${answers.length} answers`);
  });

  test('that is garbage or 10 MB is rejected with a reason, and other clients are not affected', async () => {
    const garbage = await request(system.edge, '/user/ada', {
      method: 'PUT',
      headers: JSON_BODY,
      body: Buffer.from([0xff, 0x00, 0x7b, 0x22]),
    });
    assert.equal(garbage.status, 400);
    assert.match((JSON.parse(garbage.body) as { error: string }).error, /the body is not/);
    const huge = await request(system.edge, '/user/ada', {
      method: 'PUT',
      headers: JSON_BODY,
      body: Buffer.alloc(10 * 1024 * 1024, 'x'),
    });
    assert.equal(huge.status, 413, huge.body);
    assert.match((JSON.parse(huge.body) as { error: string }).error, /16/);
    assert.match(
      await sendThenRead(system.edge, '/user/ada', 10 * 1024 * 1024),
      /^HTTP\/1.1 413 .*"error":/s,
    );
    isSameRecord(await fromEachInstance());
    assert.equal((await ask('GET', '/user/ada')).status, 404);
  });
});
