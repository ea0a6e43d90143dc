import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import pino from 'pino';
import { serviceDefinition } from '#grpc/service.ts';
import { serveOnGrpcJs } from '#grpc/unary/serve-on-grpc-js.ts';
import { serveUnary } from '#grpc/unary/serve-unary.ts';
import { encodeAny } from '#protos/encode.ts';
import type { JsonObject } from '#protos/json.ts';
import { RATE_LIMIT } from '#protos/type-url.ts';
import { type XdsResource, xdsResource } from '#xds/snapshot.ts';
import { type CounterStore, StoreUnavailable } from './counter-store.ts';
import { MemoryCounterStore } from './memory-counter-store.ts';
import { startServer } from './server.ts';
import type { RateLimitResponse } from './wire.ts';

const SERVICE = 'envoy.service.ratelimit.v3.RateLimitService';
const LIMIT = {
  name: 'per-path',
  rate: 1,
  unit: 'DAY',
  pattern: [{ alternatives: [{ key: 'path' }] }],
};
const request = (value: string) => ({
  domain: 'gateway',
  descriptors: [{ entries: [{ key: 'path', value }] }],
});

/**
 * Starts a service with these limits in force (none have come when undefined), and clients of it.
 */
async function setUpOn(
  serve: typeof serveUnary,
  t: TestContext,
  limits: readonly JsonObject[] | undefined,
  store = memory(),
) {
  const lines: string[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) });
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    store,
    log,
    now: Date.now,
    uptime: () => performance.now(),
    serve,
  });
  const client = new Client(`127.0.0.1:${server.port}`, credentials.createInsecure());
  t.after(async () => {
    client.close();
    await server.stop(100);
  });
  const answers: string[] = [];
  const update = (
    changed: readonly XdsResource[],
    removed: readonly string[] = [],
    complete = true,
  ) =>
    server.update({
      typeUrl: RATE_LIMIT,
      changed,
      removed,
      complete,
      ack: () => void answers.push('ack'),
      nack: message => void answers.push(message),
    });
  if (limits !== undefined) update([resourceOf('default/a', limits)]);
  return {
    server,
    answers,
    lines,
    update,
    call: callWith(client),
    url: `http://127.0.0.1:${server.port}`,
  };
}

function memory(): CounterStore {
  const begun = Date.now(); // no window ends while a test counts
  return new MemoryCounterStore({ now: () => begun });
}

/** Stores that count nothing. One says so by a promise, the other at once. */
function goneStores(): readonly CounterStore[] {
  const gone = { ...memory(), status: () => ({ waiting: 0 }), close: async () => {} };
  const fail = () => {
    throw new StoreUnavailable('gone');
  };
  return [
    { ...gone, count: async () => fail() },
    { ...gone, count: fail },
  ];
}

function resourceOf(name: string, limits: readonly JsonObject[]): XdsResource {
  return xdsResource(name, encodeAny({ '@type': RATE_LIMIT, domain: 'gateway', limits }));
}

function callWith(client: Client) {
  const method = serviceDefinition(SERVICE).ShouldRateLimit;
  assert.ok(method !== undefined);
  const { path, requestSerialize, responseDeserialize } = method;
  return (message: object, metadata = new Metadata()) =>
    new Promise<RateLimitResponse>((resolve, reject) => {
      client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        message,
        metadata,
        (error, answer) => (error === null ? resolve(answer as RateLimitResponse) : reject(error)),
      );
    });
}

const post = async (url: string, body: string) => {
  const response = await fetch(`${url}/json`, { method: 'POST', body });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

for (const [name, serve] of [
  ['the unary server', serveUnary],
  ['grpc-js', serveOnGrpcJs],
] as const)
  describe(`on ${name}`, () => {
    const setUp = setUpOn.bind(undefined, serve);

    describe('the service', () => {
      test('without limits yet is not ready and answers UNAVAILABLE', async t => {
        const { call, url } = await setUp(t, undefined);
        await assert.rejects(call(request('/')), { code: status.UNAVAILABLE });
        const ready = await fetch(`${url}/readyz`);
        assert.deepEqual(
          [ready.status, await ready.text()],
          [503, 'not ready: no limits have come from the control plane yet\n'],
        );
        assert.equal((await fetch(`${url}/healthz`)).status, 200);
      });

      test('that knows that there are no limits is ready and lets everything pass', async t => {
        const { call, update, url } = await setUp(t, undefined);
        update([]);
        assert.equal((await call(request('/'))).overall_code, 1);
        assert.equal((await fetch(`${url}/readyz`)).status, 200);
      });

      test('decides over gRPC', async t => {
        const { call } = await setUp(t, [LIMIT]);
        assert.equal((await call(request('/a'))).overall_code, 1);
        const over = await call(request('/a'));
        assert.equal(over.overall_code, 2);
        assert.equal(over.statuses[0]?.current_limit?.name, 'per-path');
        assert.equal((await call(request('/b'))).overall_code, 1);
      });

      test('reads the request id of an error template from the call', async t => {
        const error_response = { body_template: '{{ .request_id }}' };
        const { call } = await setUp(t, [{ ...LIMIT, rate: 0, error_response }]);
        const metadata = new Metadata();
        metadata.set('x-gateway-request-id', 'id-1');
        const { raw_body } = await call(request('/'), metadata);
        assert.equal(Buffer.from(raw_body ?? []).toString(), 'id-1');
      });

      test('refuses a request without domain or descriptors as INVALID_ARGUMENT', async t => {
        const { call } = await setUp(t, [LIMIT]);
        await assert.rejects(call({ ...request('/'), domain: '' }), {
          code: status.INVALID_ARGUMENT,
        });
        await assert.rejects(call({ domain: 'gateway' }), { code: status.INVALID_ARGUMENT });
      });

      test('answers UNAVAILABLE when the store is gone, by a promise or at once, and says so once', async t => {
        for (const store of goneStores()) {
          const { call, lines, url } = await setUp(t, [LIMIT], store);
          await assert.rejects(call(request('/')), { code: status.UNAVAILABLE, details: 'gone' });
          assert.deepEqual(await post(url, JSON.stringify(request('/'))), {
            status: 503,
            body: { error: 'gone' },
          });
          assert.equal(lines.filter(line => line.includes('"reason":"gone"')).length, 1);
        }
      });

      test('refuses at rate 0 when the store is gone, and tells and counts both', async t => {
        for (const store of goneStores()) {
          const { call, lines, url } = await setUp(t, [{ ...LIMIT, rate: 0 }], store);
          for (let i = 0; i < 2; i += 1)
            assert.equal((await call(request('/'))).overall_code, 2, String(i));
          assert.equal((await post(url, JSON.stringify(request('/')))).status, 429);
          assert.equal(lines.filter(line => line.includes('"reason":"gone"')).length, 1);
          const metrics = await (await fetch(`${url}/metrics`)).text();
          assert.match(metrics, /answers_total\{code="OVER_LIMIT"\} 3/);
          assert.doesNotMatch(metrics, /answers_total\{code="UNAVAILABLE"\} [1-9]/);
        }
      });

      test('a mistake of ours is INTERNAL, told in the log and not to the client', async t => {
        const store = {
          count: () => {
            throw new TypeError('x is not a function');
          },
          reset: async () => {},
          status: () => ({ waiting: 0 }),
          close: async () => {},
        };
        const { call, lines } = await setUp(t, [LIMIT], store);
        const failed = await call(request('/')).catch((error: ServiceError) => error);
        assert.deepEqual(
          [(failed as ServiceError).code, (failed as ServiceError).details],
          [status.INTERNAL, 'internal error, see the log'],
        );
        assert.ok(lines.some(line => line.includes('x is not a function')));
      });
    });

    describe('limits from the control plane', () => {
      test('that cannot be are refused as a whole, and the earlier ones stay', async t => {
        const { call, answers, update } = await setUp(t, [{ ...LIMIT, rate: 0 }]);
        update([
          resourceOf('default/a', [{ ...LIMIT, rate: 5 }]),
          resourceOf('default/b', [{ ...LIMIT, name: '' }]),
        ]);
        assert.match(answers[1] ?? '', /^RateLimit default\/b: limits\[0\]/);
        assert.equal((await call(request('/'))).overall_code, 2);
      });

      test('come into force as a whole: not while a part is missing', async t => {
        const { call, update } = await setUp(t, [{ ...LIMIT, rate: 0 }]);
        update([resourceOf('default/a', [{ ...LIMIT, rate: 5 }])], [], false);
        assert.equal((await call(request('/'))).overall_code, 2);
        update([resourceOf('default/b', [])]);
        assert.equal((await call(request('/'))).overall_code, 1);
      });

      test('that change their rate or name go on counting where they were', async t => {
        const { call, update } = await setUp(t, [{ ...LIMIT, rate: 2 }]);
        await call(request('/'));
        await call(request('/'));
        update([resourceOf('default/b', [{ ...LIMIT, name: 'renamed', rate: 3 }])], ['default/a']);
        assert.equal((await call(request('/'))).overall_code, 1);
        assert.equal((await call(request('/'))).overall_code, 2);
      });

      test('that are removed do not apply any more', async t => {
        const { call, update } = await setUp(t, [{ ...LIMIT, rate: 0 }]);
        update([], ['default/a']);
        assert.equal((await call(request('/'))).overall_code, 1);
      });
    });
  });

const setUp = setUpOn.bind(undefined, serveUnary);

describe('POST /json', () => {
  test('answers in ProtoJSON, 200 within the limit and 429 over it', async t => {
    const { url } = await setUp(t, [LIMIT]);
    const camel = { ...request('/a'), hitsAddend: 1 };
    const within = await post(url, JSON.stringify(camel));
    assert.equal(within.status, 200);
    assert.equal(within.body.overallCode, 'OK');
    const over = await post(url, JSON.stringify({ ...request('/a'), hits_addend: 1 }));
    assert.equal(over.status, 429);
    const [first] = over.body.statuses as { currentLimit: object; code: string }[];
    assert.deepEqual(
      [first?.code, first?.currentLimit],
      ['OVER_LIMIT', { name: 'per-path', requestsPerUnit: 1, unit: 'DAY' }],
    );
    assert.deepEqual(Object.keys(over.body.dynamicMetadata as object), [
      'gw.ratelimit.name',
      'gw.ratelimit.action',
      'gw.ratelimit.retry_after',
    ]);
  });

  for (const [body, error] of [
    ['{', 'the body is not JSON'],
    ['[]', 'want an envoy.service.ratelimit.v3.RateLimitRequest as a JSON object'],
    ['{"domain": 1}', /domain/],
    ['{"domian": "a"}', /domian/],
    ['{"domain": "gateway"}', 'there are no descriptors'],
  ] as const) {
    test(`${body} is 400 with the reason`, async t => {
      const { url } = await setUp(t, [LIMIT]);
      const answer = await post(url, body);
      assert.equal(answer.status, 400);
      if (typeof error === 'string') assert.equal(answer.body.error, error);
      else assert.match(String(answer.body.error), error);
    });
  }

  test('pages of browsers use up no limit', async t => {
    const { url } = await setUp(t, [LIMIT]);
    const body = JSON.stringify(request('/a'));
    const post = async (headers: Readonly<Record<string, string>>) =>
      (await fetch(`${url}/json`, { method: 'POST', body, headers })).status;
    for (const origin of ['https://evil.test', 'null', url])
      assert.equal(await post({ origin, 'content-type': 'text/plain' }), 403);
    assert.equal(await post({ 'sec-fetch-site': 'cross-site' }), 403);
    assert.equal(await post({ 'content-type': 'application/json' }), 200);
  });

  test('other methods are 405, other paths 404', async t => {
    const { url } = await setUp(t, [LIMIT]);
    const get = await fetch(`${url}/json`);
    assert.deepEqual([get.status, get.headers.get('allow')], [405, 'POST']);
    assert.equal((await fetch(`${url}/`)).status, 404);
  });
});

test('a template that fails for every request is logged once, and counted', async t => {
  const inject_response_headers = [
    { name: 'X-Left', value: '{{ index .RateLimitResponse.Statuses 9 }}' },
  ];
  const { call, lines, url } = await setUp(t, [{ ...LIMIT, inject_response_headers }]);
  for (let i = 0; i < 3; i += 1)
    assert.deepEqual((await call(request('/secret'))).overall_code, i === 0 ? 1 : 2);
  const told = lines.filter(line => line.includes('a template failed'));
  assert.equal(told.length, 1);
  assert.match(told[0] ?? '', /"limit":"per-path".*"header":"x-left"/);
  assert.ok(!lines.join('').includes('/secret'), 'what clients send is in no log');
  const metrics = await (await fetch(`${url}/metrics`)).text();
  assert.match(metrics, /template_failures_total\{limit="per-path"\} 3/);
  assert.match(metrics, /answers_total\{code="OVER_LIMIT"\} 2/);
});

test('a store that is slower than half of the time that the proxy waits is UNAVAILABLE in time, and told and counted as that', async t => {
  const lines: string[] = [];
  const store: CounterStore = {
    count: () => new Promise(() => {}),
    reset: async () => {},
    status: () => ({ waiting: 0 }),
    close: async () => {},
  };
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    store,
    log: pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) }),
    now: Date.now,
    uptime: () => performance.now(),
    storeTimeoutMs: 60_000,
  });
  const client = new Client(`127.0.0.1:${server.port}`, credentials.createInsecure());
  t.after(async () => {
    client.close();
    await server.stop(0);
  });
  server.update({
    typeUrl: RATE_LIMIT,
    changed: [resourceOf('default/a', [LIMIT])],
    removed: [],
    complete: true,
    ack: () => {},
    nack: message => assert.fail(message),
  });
  const { ShouldRateLimit } = serviceDefinition(SERVICE);
  assert.ok(ShouldRateLimit !== undefined);
  const { path, requestSerialize, responseDeserialize } = ShouldRateLimit;
  const options = { deadline: Date.now() + 6_000 };
  const error = await new Promise<ServiceError | null>(resolve =>
    client.makeUnaryRequest(
      path,
      requestSerialize,
      responseDeserialize,
      request('/'),
      options,
      resolve,
    ),
  );
  assert.equal(error?.code, status.UNAVAILABLE);
  const reason = 'the counter store did not answer in half of the time';
  assert.equal(error?.details, reason);
  assert.ok(lines.some(line => line.includes('limits cannot be counted') && line.includes(reason)));
  const metrics = await (await fetch(`http://127.0.0.1:${server.port}/metrics`)).text();
  assert.match(metrics, /answers_total\{code="UNAVAILABLE"\} 1/);
  assert.match(metrics, /store_seconds_count\{ok="false"\} 1/);
});
