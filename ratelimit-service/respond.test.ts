import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  body,
  decided,
  header,
  LOG_ONLY,
  OVER,
  requestHeaders,
  responseHeaders,
  WITHIN,
} from './testing/decided.ts';
import type { LimitJson } from './testing/limits.ts';

function metadata(limits: readonly LimitJson[]): object | undefined {
  return decided(limits).response.dynamic_metadata?.fields;
}

test('an exceeded Enforce limit without errorResponse is a Retry-After and no body', () => {
  const { response } = decided([OVER]);
  assert.deepEqual(
    [response.overall_code, response.response_headers_to_add, response.raw_body],
    [2, [{ key: 'retry-after', value: '46' }], null],
  );
});

test('Retry-After is not sent when a request passes, also not over a LogOnly limit', () => {
  assert.deepEqual(responseHeaders([WITHIN]), []);
  assert.deepEqual(responseHeaders([LOG_ONLY]), []);
});

test("Retry-After is the recorded limit's, not a longer LogOnly one's", () =>
  assert.deepEqual(responseHeaders([OVER, { ...LOG_ONLY, pattern: ['b'], unit: 'DAY' }]), [
    ['retry-after', '46'],
  ]));

test('metadata is not set while no limit is exceeded', () =>
  assert.equal(metadata([WITHIN]), undefined));

test('metadata tells name, action and the seconds of Retry-After as a number', () =>
  assert.deepEqual(metadata([{ ...OVER, name: 'slow.default-0' }]), {
    'gw.ratelimit.name': { string_value: 'slow.default-0' },
    'gw.ratelimit.action': { string_value: 'Enforce' },
    'gw.ratelimit.retry_after': { number_value: 46 },
  }));

test('metadata of an exceeded LogOnly limit says so', () =>
  assert.deepEqual(metadata([LOG_ONLY]), {
    'gw.ratelimit.name': { string_value: 'limit-0' },
    'gw.ratelimit.action': { string_value: 'LogOnly' },
    'gw.ratelimit.retry_after': { number_value: 46 },
  }));

test('a matched descriptor has the limit it shows, another its code alone', () => {
  const { response } = decided([{ ...WITHIN, name: 'n', unit: 'HOUR' }]);
  assert.deepEqual(response.statuses, [
    {
      code: 1,
      current_limit: { name: 'n', requests_per_unit: 9, unit: 3 },
      limit_remaining: 8,
      duration_until_reset: { seconds: 3_585, nanos: 500_000_000 },
    },
    { code: 1 },
  ]);
});

test('a descriptor is OVER_LIMIT when an Enforce limit of it is exceeded', () => {
  const { response } = decided([WITHIN, { ...OVER, pattern: ['b'] }]);
  assert.deepEqual(
    response.statuses.map(({ code }) => code),
    [1, 2],
  );
});

test('a descriptor over a LogOnly limit is OK on the wire, with nothing remaining', () => {
  const [status] = decided([LOG_ONLY]).response.statuses;
  assert.deepEqual([status?.code, status?.limit_remaining], [1, 0]);
});

test('headers are injected whether a limit is exceeded or not', () => {
  const injecting = {
    inject_response_headers: [header('X-A', '1')],
    inject_request_headers: [header('X-B', '2')],
  };
  assert.deepEqual(responseHeaders([{ ...WITHIN, ...injecting }]), [['x-a', '1']]);
  assert.deepEqual(requestHeaders([{ ...WITHIN, ...injecting }]), [['x-b', '2']]);
  assert.deepEqual(responseHeaders([{ ...LOG_ONLY, ...injecting }]), [['x-a', '1']]);
  assert.deepEqual(requestHeaders([{ ...LOG_ONLY, ...injecting }]), [['x-b', '2']]);
  assert.deepEqual(responseHeaders([{ ...OVER, ...injecting }]), [
    ['retry-after', '46'],
    ['x-a', '1'],
  ]);
});

test('a request that is refused gets no headers for the upstream', () =>
  assert.deepEqual(
    requestHeaders([{ ...OVER, inject_request_headers: [header('x-b', '2')] }]),
    [],
  ));

test('headers of every matched limit are injected, those of an earlier group and limit first, once per name', () => {
  const inject = (...headers: readonly object[]) => ({ inject_response_headers: headers });
  assert.deepEqual(
    responseHeaders([
      { ...WITHIN, pattern: ['b'], ...inject(header('x-a', 'b'), header('x-c', 'b')) },
      { ...WITHIN, ...inject(header('x-a', 'first'), header('X-A', 'again')) },
      { ...WITHIN, unit: 'DAY', ...inject(header('x-a', 'second'), header('x-b', 'second')) },
    ]),
    [
      ['x-a', 'first'],
      ['x-b', 'second'],
      ['x-c', 'b'],
    ],
  );
});

test('headers of errorResponse come first, then Retry-After, then the injected ones', () =>
  assert.deepEqual(
    responseHeaders([
      {
        ...OVER,
        inject_response_headers: [
          header('x-a', 'injected'),
          header('retry-after', '1'),
          header('x-b', 'injected'),
        ],
        error_response: { headers: [header('X-A', 'error'), header('Content-Type', 'text/html')] },
      },
    ]),
    [
      ['x-a', 'error'],
      ['content-type', 'text/html'],
      ['retry-after', '46'],
      ['x-b', 'injected'],
    ],
  ));

test('Retry-After of errorResponse replaces ours', () =>
  assert.deepEqual(
    responseHeaders([{ ...OVER, error_response: { headers: [header('Retry-After', '7')] } }]),
    [['retry-after', '7']],
  ));

test('errorResponse is that of the recorded limit', () => {
  const answer = (text: string) => ({
    error_response: { headers: [header('x', text)], body_template: text },
  });
  const limits = [
    { ...OVER, ...answer('short') },
    { ...OVER, pattern: ['b'], unit: 'HOUR', ...answer('long') },
    { ...LOG_ONLY, unit: 'DAY', ...answer('log') },
  ];
  assert.equal(body(limits), 'long');
  assert.deepEqual(responseHeaders(limits), [
    ['x', 'long'],
    ['retry-after', '3586'],
  ]);
});

test('errorResponse is not used for a request that passes', () => {
  const limits = [
    { ...LOG_ONLY, error_response: { headers: [header('x', '1')], body_template: 'no' } },
  ];
  assert.deepEqual([responseHeaders(limits), body(limits)], [[], undefined]);
});

test('a body without a Content-Type of its own leaves it to Envoy', () =>
  assert.deepEqual(responseHeaders([{ ...OVER, error_response: { body_template: 'no' } }]), [
    ['retry-after', '46'],
  ]));
