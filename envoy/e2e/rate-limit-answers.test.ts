import assert from 'node:assert/strict';
import http2 from 'node:http2';
import { text } from 'node:stream/consumers';
import { after, before, describe, type TestContext, test } from 'node:test';
import { Client, credentials, type ServiceError, status } from '@grpc/grpc-js';
import {
  document,
  type LimitedSystem,
  labelled,
  limits,
  patientService,
  type Services,
  startLimited,
} from '#ratelimit-service/e2e/limited-system.ts';
import { secondsOfHourLeft, withinOneWindow } from '#ratelimit-service/e2e/within-one-window.ts';
import type { RequestOptions } from './request.ts';
import { until } from './until.ts';

const CLIENT = { client: { header: 'X-Client', omit_if_not_present: true } };
/** Rejects every request, in every window. */
const NONE = { rate: 0, unit: 'hour' };
const LEFT = '{{ (index .RateLimitResponse.Statuses 0).LimitRemaining }}';

function resources({ rateLimit, upstream }: Services): Record<string, string> {
  const of = (name: string, ...groups: readonly (readonly unknown[])[]) =>
    labelled(name, upstream, ...groups);
  const pattern = (value: string) => [{ generic_key: value }];
  return {
    'service.yaml': patientService(rateLimit),
    'mappings.yaml': [
      ...['bare', 'full', 'faulty', 'limited.service', 'trial', 'trials'].map(name =>
        of(name, [name]),
      ),
      document('Mapping', 'plain', { prefix: '/plain/', service: upstream }),
      of('counted', ['counted', CLIENT]),
      of('several', ['several-second'], ['several-day'], ['several-trial']),
      of('mixed', ['mixed']),
    ].join(''),
    'limits.yaml': [
      limits('bare', [{ pattern: pattern('bare'), ...NONE }]),
      limits('grpc', [{ pattern: pattern('limited.service'), ...NONE }]),
      limits('counted', [
        {
          name: 'counted',
          pattern: [...pattern('counted'), { client: '*' }],
          rate: 2,
          unit: 'hour',
          injectRequestHeaders: [
            { name: 'X-Left', value: LEFT },
            { name: 'X-Never', value: '{{ doNotSet }}' },
          ],
          injectResponseHeaders: [
            { name: 'X-Limit-Left', value: LEFT },
            { name: 'X-Wait', value: '{{ .RetryAfter.Hours }}' },
          ],
        },
      ]),
      limits('full', [
        {
          pattern: pattern('full'),
          ...NONE,
          errorResponse: {
            headers: [
              { name: 'Content-Type', value: 'application/json' },
              { name: 'X-Code', value: '{{ .status_code }} {{ .RateLimitResponse.OverallCode }}' },
            ],
            bodyTemplate:
              '{{ json "" . }}{{ printf "|%d|%s|%s|%.0f" .status_code .message .request_id .RetryAfter.Seconds }}',
          },
        },
      ]),
      limits('faulty', [
        {
          name: 'faulty',
          pattern: pattern('faulty'),
          ...NONE,
          errorResponse: { bodyTemplate: '{{ index .RateLimitResponse.Statuses 9 }}' },
        },
      ]),
      limits('log', [
        { name: 'trial', action: 'logonly', pattern: pattern('trial'), ...NONE },
        {
          name: 'short trial',
          action: 'LogOnly',
          pattern: pattern('trials'),
          ...NONE,
          unit: 'second',
        },
        { name: 'long trial', action: 'LogOnly', pattern: pattern('trials'), ...NONE, unit: 'day' },
        { name: 'several short', pattern: pattern('several-second'), ...NONE, unit: 'second' },
        { name: 'several long', pattern: pattern('several-day'), ...NONE, unit: 'day' },
        { name: 'several trial', action: 'LogOnly', pattern: pattern('several-trial'), ...NONE },
        { name: 'mixed trial', action: 'LogOnly', pattern: pattern('mixed'), ...NONE, unit: 'day' },
        { name: 'mixed enforced', pattern: pattern('mixed'), ...NONE, unit: 'minute' },
      ]),
    ].join(''),
  };
}

describe('what is limited, through the edge', () => {
  let system: LimitedSystem;
  before(async () => {
    system = await startLimited(resources);
  });
  after(() => system.stop());

  const of = (client: string, headers: RequestOptions['headers'] = {}) => ({
    headers: { 'x-client': client, ...headers },
  });

  test('is answered 429 with Retry-After and no body, unless the limit says more', async () => {
    const { body, headers, status } = await system.ask('/bare/');
    assert.deepEqual([status, body], [429, '']);
    assert.match(headers['retry-after'] ?? '', /^[1-9]\d*$/);
    assert.equal(headers['x-envoy-ratelimited'], undefined);
  });

  test('has in Retry-After the seconds until the window ends', () =>
    withinOneWindow(async () => {
      const before = secondsOfHourLeft();
      const { headers } = await system.ask('/bare/');
      const retryAfter = Number(headers['retry-after']);
      assert.ok(
        retryAfter <= Math.ceil(before) && retryAfter >= Math.floor(secondsOfHourLeft()),
        `${retryAfter}`,
      );
    }));

  test('is request number rate + 1 of each label group, no earlier', () =>
    withinOneWindow(async client => {
      const statuses = async (name: string) => {
        const all = [];
        for (let i = 0; i < 4; i++) all.push(await system.statusOf('/counted/', of(name)));
        return all;
      };
      assert.deepEqual(await statuses(client), [200, 200, 429, 429]);
      assert.deepEqual(await statuses(`${client}-other`), [200, 200, 429, 429]);
    }));

  test('never reaches the upstream', async () => {
    const seen = system.upstream.requests();
    assert.equal(await system.statusOf('/bare/'), 429);
    assert.equal(system.upstream.requests(), seen);
  });

  test('has the injected response headers, on the answers of the upstream and on a 429', () =>
    withinOneWindow(async client => {
      const seen = [];
      for (let i = 0; i < 3; i++) {
        const { headers, status } = await system.ask('/counted/', of(`${client}-headers`));
        seen.push([status, headers['x-limit-left'], headers['x-wait'] === '0']);
        assert.equal(headers['retry-after'] === undefined, status === 200);
      }
      assert.deepEqual(seen, [
        [200, '1', true],
        [200, '0', true],
        [429, '0', false],
      ]);
    }));

  test('has the injected request headers when it reaches the upstream', () =>
    withinOneWindow(async client => {
      const { headers } = await system.echo('/counted/', of(`${client}-up`));
      assert.deepEqual([headers['x-left'], headers['x-never']], ['1', undefined]);
    }));

  test('cannot bring headers that a limit sets, in any letter case, on any route', () =>
    withinOneWindow(async client => {
      const forged = { 'X-LEFT': 'forged', 'x-nEVer': ['forged', 'twice'], 'x-leftover': 'kept' };
      const { headers } = await system.echo('/counted/', of(`${client}-forged`, forged));
      assert.deepEqual(
        [headers['x-left'], headers['x-never'], headers['x-leftover']],
        ['1', undefined, 'kept'],
      );
      const plain = await system.echo('/plain/', { headers: forged });
      assert.deepEqual([plain.headers['x-left'], plain.headers['x-never']], [undefined, undefined]);
    }));

  test('is limited the same beside a RateLimit whose target is not there', () =>
    withinOneWindow(async client => {
      const labels = [{ client: { path: true } }, { left: { header: 'X-Left' } }];
      const absent = {
        targetRefs: [{ kind: 'HTTPRoute', name: 'absent' }],
        limits: [{ labels, ...NONE }],
      };
      const shown = { prefix: '/shown/', service: system.services.upstream };
      system.write(
        'absent.yaml',
        document('RateLimit', 'absent', absent) + document('Mapping', 'shown', shown),
      );
      await until(async () => (await system.statusOf('/shown/')) === 200 || undefined);
      const lefts = [];
      for (const name of [`${client}-a`, `${client}-A`]) {
        const { headers } = await system.echo('/counted/', of(name, { 'X-Left': 'forged' }));
        lefts.push(headers['x-left']);
      }
      assert.deepEqual(lefts, ['1', '1']);
    }));

  for (const name of ['x_left', 'X_Never', 'x_any'])
    test(`with a header ${name} is no request`, async () => {
      assert.equal(await system.statusOf('/plain/', { headers: { [name]: 'forged' } }), 400);
    });

  test('has headers and body of errorResponse, with its data', async () => {
    const { body, headers, status } = await system.ask('/full/');
    assert.equal(status, 429);
    assert.deepEqual([headers['content-type'], headers['x-code']], ['application/json', '429 2']);
    const [json = '', code, message, requestId, seconds] = body.split('|');
    assert.deepEqual([code, message], ['429', 'rate limit exceeded']);
    assert.ok(Math.abs(Number(headers['retry-after']) - Number(seconds)) <= 1, body);
    assert.match(requestId ?? '', /^[0-9a-f-]{36}$/);
    const data = JSON.parse(json) as object;
    assert.deepEqual(Object.keys(data), [
      'RateLimitResponse',
      'RetryAfter',
      'message',
      'status_code',
    ]);
  });

  test('by LogOnly limits alone is answered by the upstream', async () => {
    const { headers, status } = await system.ask('/trials/');
    assert.deepEqual([status, headers['retry-after']], [200, undefined]);
  });

  test('of gRPC gets the status RESOURCE_EXHAUSTED', async t => {
    const { code, metadata } = await callOverGrpc(t, system.edge);
    assert.equal(code, status.RESOURCE_EXHAUSTED);
    assert.equal(metadata.get('retry-after').length, 1);
  });

  test('of a client that speaks HTTP/2 is answered 429 too', async t => {
    const client = http2.connect(system.edge);
    t.after(() => client.destroy());
    const stream = client.request({ ':path': '/full/' });
    const headers = await new Promise<http2.IncomingHttpHeaders>(resolve => {
      stream.once('response', resolve);
    });
    assert.deepEqual([headers[':status'], headers['x-code']], [429, '429 2']);
    assert.match(await text(stream), /\|rate limit exceeded\|/);
  });

  describe('and its line in the default access log', { concurrency: true }, () => {
    test('have one request id', async () => {
      const { body } = await system.ask('/full/');
      const requestId = body.split('|')[3] ?? 'none';
      const line = JSON.parse(await system.logLine(requestId)) as Record<string, unknown>;
      assert.deepEqual([line.request_id, line.path, line.status], [requestId, '/full/', 429]);
    });

    test('are a 429, told in JSON, when the template of the body fails', async () => {
      const { body, headers, status } = await system.ask('/faulty/');
      assert.deepEqual([status, headers['content-type']], [429, 'application/json']);
      const { request_id, ...rest } = JSON.parse(body) as Record<string, unknown>;
      assert.deepEqual(rest, {
        message: 'errorResponse.bodyTemplate of limit faulty failed',
        status_code: 500,
      });
      assert.equal(JSON.parse(await system.logLine(`${request_id}`)).status, 429);
    });

    test('name the limit that was exceeded', async () => {
      const { headers } = await system.ask('/bare/', {
        headers: { 'user-agent': 'of the default log' },
      });
      const line = JSON.parse(await system.logLine('of the default log')) as Record<
        string,
        unknown
      >;
      assert.deepEqual(
        [line.status, line.flags, line.limit, line.limit_action, line.retry_after],
        [429, 'RL', 'bare.default-0', 'Enforce', Number(headers['retry-after'])],
      );
    });
  });

  test('the default access log cuts what a client writes', async () => {
    const long = 'x'.repeat(8_000);
    await system.ask(`/full/cut${long}`, { headers: { 'user-agent': `cut ${long}` } });
    const line = await system.logLine('"path":"/full/cut');
    const { path, user_agent } = JSON.parse(line) as Record<string, string>;
    assert.deepEqual([path?.length, user_agent?.length], [2_000, 500]);
  });

  describe('is in an access log of the operator by', { concurrency: true }, () => {
    const metadata = (key: string) =>
      `%DYNAMIC_METADATA(proxy.filters.http.ratelimit:gw.ratelimit.${key})%`;
    before(async () => {
      const format = `%REQ(X-ASK)%|${metadata('name')}|${metadata('action')}|${metadata('retry_after')}|%RESPONSE_CODE%`;
      system.write(
        'module.yaml',
        document('Module', 'gateway', { config: { proxy_log_format: `log|${format}|end` } }),
      );
      await until(async () => {
        await system.ask('/plain/', { headers: { 'x-ask': 'is it in force' } });
        return system.logHas('log|is it in force|-|-|-|200|end') || undefined;
      });
    });

    for (const [why, path, name, action, code] of [
      ['the LogOnly limit when no other is exceeded (1)', 'trial', 'trial', 'LogOnly', 200],
      ['the longest of several LogOnly limits (1, 2)', 'trials', 'long trial', 'LogOnly', 200],
      [
        'the limit with the longest time until reset (2)',
        'several',
        'several long',
        'Enforce',
        429,
      ],
      [
        'the Enforce limit although a LogOnly is longer (3)',
        'mixed',
        'mixed enforced',
        'Enforce',
        429,
      ],
    ] as const)
      test(why, async () => {
        const { headers, status } = await system.ask(`/${path}/`, { headers: { 'x-ask': path } });
        const line = await system.logLine(`log|${path}|`);
        const [, , ...said] = line.split('|');
        const seconds = said[2] ?? '';
        assert.deepEqual([status, ...said], [code, name, action, seconds, `${code}`, 'end']);
        assert.match(seconds, /^[1-9]\d*$/);
        if (code === 429) assert.equal(headers['retry-after'], seconds);
      });
  });
});

/** Makes a unary call to the limited service, through the edge, which must fail. */
function callOverGrpc(t: TestContext, edge: string): Promise<ServiceError> {
  const client = new Client(new URL(edge).host, credentials.createInsecure());
  t.after(() => client.close());
  const asIs = (bytes: Buffer) => bytes;
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest('/limited.service/Call', asIs, asIs, Buffer.alloc(0), error =>
      error === null ? reject(new Error('it was answered')) : resolve(error),
    );
  });
}
