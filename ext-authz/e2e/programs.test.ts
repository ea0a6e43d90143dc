import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type RequestOptions, request } from '#envoy/e2e/request.ts';
import { type System, startSystem } from '#envoy/e2e/system.ts';
import { getToken } from './get-token.ts';

describe('programs at the demo', () => {
  let system: System;
  before(async () => {
    system = await startSystem({ demo: true });
  });
  after(() => system?.stop());

  const ask = (path: string, headers: RequestOptions['headers'] = {}) =>
    request(system.edge, path, { headers });
  const provider = () => `http://127.0.0.1:${system.ports.identityProvider}`;

  const fromPrograms = (scope: string) =>
    getToken(provider(), 'nightly-report', { grant_type: 'client_credentials', scope });

  test('find open what is open', async () => {
    assert.equal((await ask('/user/health')).status, 200);
    assert.equal((await ask('/account/logged-out')).status, 200);
  });

  for (const accept of [undefined, '*/*', 'application/json']) {
    test(`are told 401 at what is for scripts, not sent to a form (Accept: ${accept ?? 'none'})`, async () => {
      const answer = await ask('/account/api', accept === undefined ? {} : { accept });
      assert.equal(answer.status, 401);
      assert.match(answer.headers['www-authenticate'] ?? '', /^Bearer realm="login\.default"/);
      assert.deepEqual(
        [answer.headers.location, answer.headers['set-cookie']],
        [undefined, undefined],
      );
    });
  }

  test('are sent to the provider at what is for people', async () => {
    const { headers, status } = await ask('/account', { accept: 'text/html' });
    assert.equal(status, 303);
    assert.ok(headers.location?.startsWith(`${provider()}/auth?`), headers.location);
  });

  for (const [path, status] of [
    ['/account', 303],
    ['/account/admin', 303],
    ['/account/api', 401],
    ['/accountant', 303],
    ['//account', 303],
    ['/x/../account', 303],
    ['/account/logged-out/../api', 401],
    ['/account/logged-out;/../api', 401],
    ['/account%2Fapi', 400],
    ['/%61ccount', 303],
    ['/user/%2e%2e/account/api', 401],
    ['/user/..;/account/api', 401],
    ['/api/%2e./account/api', 401],
  ] as const) {
    test(`are not let in at ${path} by saying who they are`, async () => {
      const spoofed = { 'X-User': 'ada', 'x-user-name': 'Ada', 'X-USER-SCOPE': 'users:admin' };
      const bearer = `Bearer ${await fromPrograms('users:read')}`;
      assert.equal((await ask(path, { ...spoofed, authorization: bearer })).status, status);
    });
  }

  test('get in with a token that the provider gave them', async () => {
    const authorization = `Bearer ${await fromPrograms('users:read')}`;
    const { body, status } = await ask('/api/health', { authorization });
    assert.deepEqual([status, JSON.parse(body).ok], [200, true]);
  });

  test('do not get in without a token, or with one that was tampered with', async () => {
    const token = await fromPrograms('users:read');
    const none = await ask('/api/health');
    assert.deepEqual(
      [none.status, none.headers['www-authenticate']],
      [401, 'Bearer realm="tokens.default"'],
    );
    const [head, , signature] = token.split('.');
    const claims = Buffer.from(JSON.stringify({ sub: 'ada', scope: 'users:read' })).toString(
      'base64url',
    );
    const forged = await ask('/api/health', {
      authorization: `Bearer ${head}.${claims}.${signature}`,
    });
    assert.equal(forged.status, 401);
    assert.match(forged.headers['www-authenticate'] ?? '', /error="invalid_token"/);
  });

  test('do not get in with a token that allows too little', async () => {
    const token = await getToken(provider(), 'nightly-report', {
      grant_type: 'client_credentials',
    });
    const { headers, status } = await ask('/api/health', { authorization: `Bearer ${token}` });
    assert.equal(status, 403);
    assert.match(headers['www-authenticate'] ?? '', /error="insufficient_scope"/);
  });

  const client = (id: string, secret: string) => ({
    'X-Gateway-Client-ID': id,
    'X-Gateway-Client-Secret': secret,
  });

  test('get in with their own name and password', async () => {
    const headers = client('nightly-report', 'nightly-report-sample-secret');
    assert.equal((await ask('/client/health', headers)).status, 200);
  });

  test('do not get in with another password, or none', async () => {
    assert.equal((await ask('/client/health', client('nightly-report', 'guess'))).status, 403);
    assert.equal((await ask('/client/health')).status, 403);
  });

  const user = (name: string, password: string) => ({
    'X-Gateway-Username': name,
    'X-Gateway-Password': password,
  });

  test("get in with a user's name and password", async () => {
    assert.equal((await ask('/terminal/health', user('ada', 'difference'))).status, 200);
  });

  test("do not get in with a user's wrong password, or none", async () => {
    assert.equal((await ask('/terminal/health', user('ada', 'nanosecond'))).status, 403);
    assert.equal((await ask('/terminal/health')).status, 403);
  });
});
