import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parseDocument } from 'yaml';
import { edgeSession } from '../../ext-authz/e2e/edge-session.ts';
import { userNamed } from '../../identity-provider/sample-users.ts';
import { getJson, request } from './request.ts';
import { type System, startSystem } from './system.ts';
import { until } from './until.ts';

const FILE = 'user-service.yaml';

/**
 * The smoke pass of `npm test`: the whole system with its parts, its demo and real Envoys, once.
 */
describe('the demo', () => {
  let system: System;
  before(async () => {
    system = await startSystem({ demo: true });
  });
  after(() => system.stop());

  test('routes a request to the service', async () => {
    assert.equal((await getJson<{ ok: boolean }>(system.edge, '/user/health')).ok, true);
    assert.equal((await request(system.edge, '/nowhere')).status, 404);
  });

  test('lets in only users who have logged in', async () => {
    const user = userNamed('ada');
    assert.ok(user !== undefined);
    const headers = { accept: 'text/html' };
    assert.equal((await request(system.edge, '/account', { headers })).status, 303);
    const cookie = await edgeSession(system.edge, '/account', user);
    const page = await request(system.edge, '/account', { headers: { ...headers, cookie } });
    assert.equal(page.status, 200);
    assert.match(page.body, /Ada Lovelace/);
  });

  test('limits how often a password may be tried', async () => {
    const attempt = () =>
      request(system.edge, '/user/ada/login', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ password: 'wrong' }),
      });
    // A minute may end between two attempts, and on a busy machine a decision may come too late.
    const rejected = await until(async () => {
      const answer = await attempt();
      return answer.status === 429 ? answer : undefined;
    });
    assert.match(rejected.headers['retry-after'] ?? '', /^\d+$/);
  });

  test('follows an edit', async () => {
    const put = () => request(system.edge, '/user/ada', { method: 'PUT' });
    assert.notEqual((await put()).status, 404);
    const onlyGet = parseDocument(readFileSync(join(system.resources, FILE), 'utf8'));
    onlyGet.setIn(['spec', 'method'], 'GET');
    system.write(FILE, String(onlyGet));
    await until(async () => (await put()).status === 404 || undefined);
    assert.equal((await request(system.edge, '/user/health')).status, 200);
  });
});
