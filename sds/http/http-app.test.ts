import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { type TestContext, test } from 'node:test';
import { Registry } from 'prom-client';
import { until } from '#envoy/e2e/until.ts';
import { serve } from '#grpc/serve.ts';
import type { Instances } from '../instances/instance.ts';
import { httpApp } from './http-app.ts';

const INSTANCES: Instances = new Map([['user-service', [{ address: '10.0.0.1', port: 5000 }]]]);

const ANSWERS: Readonly<Record<string, string>> = { '127.0.0.1 t-1_A': 't-1_A.thumbprint' };

async function setUp(t: TestContext, instances: Instances | 'unknown' = INSTANCES) {
  const statuses: number[] = [];
  const app = httpApp({
    instances: () => (instances === 'unknown' ? undefined : instances),
    whyNotKnown: () => ['i.yaml:1: it is no file'],
    status: () => ({ services: {} }),
    answer: async (hostname, token) => ANSWERS[`${hostname} ${token}`],
    onAnswered: ({ status }) => statuses.push(status),
    onError: error => assert.fail(String(error)),
    metrics: new Registry(),
  });
  const served = await serve({ host: '127.0.0.1', port: 0, services: {}, http: app });
  t.after(() => served.stop(0));
  const ask = async (method: string, path: string, body?: string) => {
    const response = await fetch(`http://127.0.0.1:${served.port}${path}`, {
      method,
      body: body ?? null,
    });
    return {
      status: response.status,
      allow: response.headers.get('allow'),
      text: await response.text(),
    };
  };
  return { ask, statuses, port: served.port };
}

const DISCOVERY = '/v3/discovery:endpoints';

test('endpoints are fetched by POST, and not sent again to who has them', async t => {
  const { ask, statuses } = await setUp(t);
  const first = await ask('POST', DISCOVERY, JSON.stringify({ resource_names: ['user-service'] }));
  const { version_info, resources } = JSON.parse(first.text);
  assert.equal(resources[0].cluster_name, 'user-service');
  const again = JSON.stringify({ resource_names: ['user-service'], version_info });
  assert.deepEqual(await ask('POST', DISCOVERY, again), { status: 304, allow: null, text: '' });
  assert.deepEqual(statuses, [200, 304]);
});

test('64 bodies are read at a time, and further requests are answered 503', async t => {
  const { ask, port } = await setUp(t);
  const begun = await Promise.all(Array.from({ length: 64 }, () => begin(port)));
  const body = JSON.stringify({ resource_names: ['user-service'] });
  const { status, text } = await ask('POST', DISCOVERY, body);
  assert.deepEqual([status, JSON.parse(text)], [503, { error: 'too many requests are sent' }]);
  assert.equal((await ask('GET', '/readyz')).status, 200);
  for (const request of begun) request.destroy();
  await until(async () => (await ask('POST', DISCOVERY, body)).status === 200 || undefined);
});

/** Begins a request for endpoints, and resolves when the server reads it. */
async function begin(port: number): Promise<http.ClientRequest> {
  const headers = { 'content-length': 1_000, expect: '100-continue' };
  const options = { port, path: DISCOVERY, method: 'POST', headers, agent: false };
  const request = http.request(options).on('error', () => {});
  request.flushHeaders();
  await once(request, 'continue');
  return request;
}

test('the old registration lists the hosts of a service', async t => {
  const { ask } = await setUp(t);
  const hosts = async (path: string) => JSON.parse((await ask('GET', path)).text).hosts;
  assert.deepEqual(await hosts('/v1/registration/user-service'), [
    { ip_address: '10.0.0.1', port: 5000, tags: {} },
  ]);
  assert.deepEqual(
    await hosts('/v1/registration/user%2Dservice'),
    await hosts('/v1/registration/user-service'),
  );
});

test('a service that is not known has no hosts: any other answer than 200 would leave an Envoy with the old ones', async t => {
  const { ask } = await setUp(t);
  const { status, text } = await ask('GET', '/v1/registration/nobody');
  assert.deepEqual({ status, body: JSON.parse(text) }, { status: 200, body: { hosts: [] } });
});

test('until the instances are known there is no answer that could take them away', async t => {
  const { ask } = await setUp(t, 'unknown');
  const statuses = [
    (await ask('POST', DISCOVERY, '{}')).status,
    (await ask('GET', '/v1/registration/user-service')).status,
    (await ask('GET', '/readyz')).status,
    (await ask('GET', '/healthz')).status,
    (await ask('GET', '/status')).status,
  ];
  assert.deepEqual(statuses, [503, 503, 503, 200, 200]);
  assert.deepEqual(JSON.parse((await ask('GET', '/readyz')).text), {
    error: 'not ready: the instances are not known yet. i.yaml:1: it is no file',
  });
});

const REFUSED: readonly [
  method: string,
  path: string,
  body: string | undefined,
  status: number,
  error: RegExp,
][] = [
  ['POST', DISCOVERY, '{"resource_names":', 400, /not JSON/],
  ['POST', DISCOVERY, '"text"', 400, /not JSON/],
  ['POST', DISCOVERY, '{"resource_names": [{}]}', 400, /^resource_names/],
  ['POST', DISCOVERY, JSON.stringify({ pad: 'x'.repeat(2 ** 20) }), 413, /1048576 bytes/],
  ['GET', DISCOVERY, undefined, 405, /use POST/],
  ['PUT', '/v1/registration/user-service', '{}', 405, /use GET/],
  ['DELETE', '/status', undefined, 405, /use GET/],
  ['GET', '/v1/registration/%zz', undefined, 400, /bad request/],
  ['GET', '/v1/registration/', undefined, 404, /not found/],
  ['GET', '/v3/discoveryX', undefined, 404, /not found/],
];

for (const [method, path, body, status, error] of REFUSED) {
  test(`${method} ${path} ${body?.slice(0, 30) ?? ''} is answered ${status} with an error in JSON`, async t => {
    const { ask } = await setUp(t);
    const answer = await ask(method, path, body);
    assert.equal(answer.status, status);
    assert.match(JSON.parse(answer.text).error, error);
    assert.equal(answer.allow !== null, status === 405);
  });
}

test('a request for a token without a name in its Host is answered 404', async t => {
  const { port } = await setUp(t);
  const path = '/.well-known/acme-challenge/t-1_A';
  const request = http.get({ port, path, setHost: false, headers: { host: '' }, agent: false });
  const [response] = await once(request, 'response');
  assert.equal(response.statusCode, 404);
  request.destroy();
});

test('an ACME authority gets the answer for a token of an open order, and 404 for others', async t => {
  const { ask } = await setUp(t, 'unknown');
  const path = '/.well-known/acme-challenge/';
  const { status, text } = await ask('GET', `${path}t-1_A`);
  assert.deepEqual([status, text], [200, 't-1_A.thumbprint']);
  for (const token of ['other', '__proto__', '%00', 'T-1_A', `${'a'.repeat(4_000)}`, '', 'a/b'])
    assert.equal((await ask('GET', path + token)).status, 404, token);
  assert.equal((await ask('GET', `${path}%E0`)).status, 400);
  assert.equal((await ask('POST', `${path}t-1_A`)).status, 405);
});
