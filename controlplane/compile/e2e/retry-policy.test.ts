import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { until } from '#envoy/e2e/until.ts';
import { type CompiledEnvoy, startCompiled } from './compiled-envoy.ts';
import { type FailingServer, startFailingServer } from './failing-server.ts';

const SHORT_MS = 300;

let service: FailingServer;
let envoy: CompiledEnvoy;

const mapping = (name: string, fields: string) =>
  `---\napiVersion: getambassador.io/v2\nkind: Mapping\nmetadata: {name: ${name}}\nspec: {${fields}}\n`;

before(async () => {
  service = await startFailingServer();
  const to = `service: '${service.address}'`;
  envoy = await startCompiled(
    [
      mapping('default', `prefix: /default/, ${to}`),
      mapping('short', `prefix: /short/, ${to}, timeout_ms: ${SHORT_MS}`),
      mapping(
        'bounded',
        `prefix: /bounded/, ${to}, timeout_ms: ${SHORT_MS}, retry_policy: {retry_on: '5xx,reset', num_retries: 3}`,
      ),
      mapping('endless', `prefix: /endless/, ${to}, timeout_ms: 0`),
      mapping('all', `prefix: /all/, ${to}, retry_policy: {retry_on: 5xx, num_retries: 3}`),
      mapping(
        'gateway',
        `prefix: /gateway/, ${to}, retry_policy: {retry_on: 'gateway-error, retriable-4xx'}`,
      ),
      mapping(
        'never',
        `prefix: /never/, ${to}, timeout_ms: 0, retry_policy: {retry_on: 5xx, num_retries: 0}`,
      ),
      mapping(
        'slow',
        `prefix: /slow/, ${to}, timeout_ms: 60000, retry_policy: {retry_on: 5xx, num_retries: 2, per_try_timeout: 300ms}`,
      ),
    ].join(''),
  );
});

after(async () => {
  await envoy.stop();
  await service.close();
});

beforeEach(() => {
  service.asked();
});

for (const [path, status, tries] of [
  ['/default/503', 503, 1],
  ['/all/503', 503, 4],
  ['/all/500', 500, 4],
  ['/all/404', 404, 1],
  ['/all/200', 200, 1],
  ['/gateway/503', 503, 2],
  ['/gateway/500', 500, 1],
  ['/gateway/409', 409, 2],
  ['/never/503', 503, 1],
  ['/slow/silent', 504, 3],
] as const) {
  test(`${path} is answered ${status} after ${tries} tries`, async () => {
    const answer = await envoy.ask(path, { method: 'POST' });
    assert.equal(answer.status, status);
    const asked: string[] = [];
    // A try that took too long may arrive after the answer.
    await until(() => {
      asked.push(...service.asked());
      return asked.length >= tries || undefined;
    });
    assert.equal(asked.length, tries);
  });
}

for (const [method, path, tries] of [
  ['GET', '/endless/reset', 2],
  ['HEAD', '/endless/reset', 2],
  ['OPTIONS', '/endless/reset', 2],
  ['POST', '/endless/reset', 1],
  ['PUT', '/endless/reset', 1],
  ['DELETE', '/endless/reset', 1],
  ['GET', '/default/reset', 2],
  ['HEAD', '/default/reset', 2],
  ['OPTIONS', '/default/reset', 2],
  ['POST', '/default/reset', 1],
  ['PUT', '/default/reset', 1],
  ['DELETE', '/default/reset', 1],
  ['GET', '/gateway/reset', 2],
  ['POST', '/gateway/reset', 2],
  ['GET', '/never/reset', 1],
  ['POST', '/never/reset', 1],
] as const) {
  test(`${method} ${path} is tried ${tries} times, whatever the client asks for`, async () => {
    const headers = { 'x-envoy-retry-on': 'reset,5xx', 'x-envoy-max-retries': '5' };
    const answer = await envoy.ask(path, { method, headers });
    assert.equal(answer.status, 503);
    assert.equal(service.asked().length, tries);
  });
}

for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST']) {
  for (const path of ['/short/silent', '/bounded/silent']) {
    test(`a service that is late to answer ${method} ${path} is asked once`, async () => {
      const begun = performance.now();
      const { body, headers, status } = await envoy.ask(path, { method });
      assert.equal(status, 504);
      // The clock that a busy Envoy looks at may be some ms old.
      assert.ok(performance.now() - begun >= SHORT_MS / 2, 'not before');
      assert.equal(headers['x-gateway-retriable'], undefined);
      if (method !== 'HEAD')
        assert.equal(JSON.parse(body).message, 'The service did not answer in time.');
      assert.deepEqual(service.asked(), ['/silent']);
    });
  }
}

test('a late answer to gRPC is told in its own way', async () => {
  const grpc = { method: 'POST', headers: { 'content-type': 'application/grpc' } };
  const { headers } = await envoy.ask('/bounded/silent', grpc);
  assert.equal(headers['grpc-status'], '14');
  assert.equal(headers['grpc-message'], 'The service did not answer in time.');
  assert.deepEqual(service.asked(), ['/silent']);
});

test('a client cannot say that its request is a late try, and services see that of retries alone', async () => {
  const headers = { 'x-envoy-is-timeout-retry': 'true' };
  assert.equal((await envoy.ask('/default/200', { headers })).status, 200);
  assert.equal(service.headers.has('x-envoy-is-timeout-retry'), false);
  for (const path of ['/default/reset', '/all/503']) await envoy.ask(path, { headers });
  assert.equal(service.headers.has('x-envoy-is-timeout-retry'), true);
});

test('a request whose body is larger than what the gateway keeps is asked once', async () => {
  for (const [bytes, tries] of [
    [30_000, 4],
    [100_000, 1],
  ] as const) {
    const answer = await envoy.ask('/all/503', { method: 'POST', body: 'x'.repeat(bytes) });
    assert.equal(answer.status, 503);
    assert.equal(service.asked().length, tries, `${bytes} bytes`);
  }
});
