import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findType } from '#protos/root.ts';
import { encodeResponse } from './encode-response.ts';
import type { RateLimitResponse } from './wire.ts';

const type = findType('envoy.service.ratelimit.v3.RateLimitResponse');
assert.ok(type !== undefined);

const EMPTY: RateLimitResponse = {
  overall_code: 1,
  statuses: [],
  response_headers_to_add: [],
  request_headers_to_add: [],
  raw_body: null,
  dynamic_metadata: null,
};

const status = (name: string, remaining: number, seconds: number, nanos: number) => ({
  code: 2 as const,
  current_limit: { name, requests_per_unit: 2 ** 32 - 1, unit: 4 },
  limit_remaining: remaining,
  duration_until_reset: { seconds, nanos },
});

const CASES: ReadonlyMap<string, RateLimitResponse> = new Map([
  ['nothing but a code', EMPTY],
  ['a descriptor without a limit', { ...EMPTY, statuses: [{ code: 1 }] }],
  [
    'limits at their edges',
    {
      ...EMPTY,
      overall_code: 2,
      statuses: [status('', 0, 0, 0), status('größe 🚦', 2 ** 32 - 1, 86_400, 999_999_999)],
    },
  ],
  [
    'headers',
    {
      ...EMPTY,
      response_headers_to_add: [
        { key: 'retry-after', value: '1' },
        { key: 'x', value: '' },
      ],
      request_headers_to_add: [{ key: 'y', value: 'é'.repeat(200) }],
    },
  ],
  ['a body', { ...EMPTY, raw_body: Buffer.from([0, 255, 128]) }],
  ['an empty body', { ...EMPTY, raw_body: Buffer.alloc(0) }],
  ['a body of 64 KiB', { ...EMPTY, raw_body: Buffer.alloc(64 * 1024, 'a') }],
  [
    '100 descriptors',
    { ...EMPTY, statuses: Array.from({ length: 100 }, (_, i) => status(`${i}`, i, i, i)) },
  ],
  [
    'metadata',
    {
      ...EMPTY,
      dynamic_metadata: {
        fields: {
          'gw.ratelimit.name': { string_value: 'x'.repeat(300) },
          'gw.ratelimit.retry_after': { number_value: 0.5 },
        },
      },
    },
  ],
]);

for (const [what, response] of CASES)
  test(`${what}: the very bytes that protobufjs makes`, () => {
    const expected = Buffer.from(type.encode(response).finish());
    assert.equal(Buffer.from(encodeResponse(response)).toString('hex'), expected.toString('hex'));
  });

test('half a character is sent as U+FFFD: Envoy takes no text that is not UTF-8', () => {
  const bytes = encodeResponse({
    ...EMPTY,
    response_headers_to_add: [{ key: 'x', value: 'a\ud800' }],
  });
  const decoded = type.decode(bytes) as unknown as RateLimitResponse;
  assert.equal(decoded.response_headers_to_add[0]?.value, 'a\ufffd');
});
