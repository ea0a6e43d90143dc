import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileLimits } from './limits-index.ts';
import { refuseUncounted } from './refuse-uncounted.ts';
import { type LimitJson, limitsOf } from './testing/limits.ts';
import { requestOf } from './testing/requests.ts';

const CLOSED: LimitJson = { pattern: ['a'], rate: 0 };
const TRIAL: LimitJson = { ...CLOSED, action: 'LOG_ONLY' };

/** 45.5 s before the minute ends. */
const NOW = 14_500;

function refused(limits: readonly LimitJson[], groups: readonly string[] = ['a=1', 'b=1']) {
  return refuseUncounted(compileLimits(limitsOf('d', limits)), requestOf(groups), 'id-1', NOW);
}

test('a request that a limit of rate 0 applies to is refused without its count, until the window ends', () => {
  const { response } = refused([CLOSED]) ?? {};
  assert.equal(response?.overall_code, 2);
  assert.deepEqual(response?.statuses, [
    {
      code: 2,
      current_limit: { name: 'limit-0', requests_per_unit: 0, unit: 2 },
      limit_remaining: 0,
      duration_until_reset: { seconds: 45, nanos: 500_000_000 },
    },
    { code: 1 },
  ]);
  assert.deepEqual(
    response?.response_headers_to_add.map(({ key, value }) => [key, value]),
    [['retry-after', '46']],
  );
});

test('a look is refused too', () => {
  assert.equal(refused([CLOSED], ['a=1 +0'])?.response.overall_code, 2);
});

test('its own error is answered, and limits whose count is unknown add nothing', () => {
  const error_response = {
    body_template: '{{ .request_id }} {{ len .RateLimitResponse.Statuses }}',
  };
  const inject_response_headers = [{ name: 'x-left', value: '{{ .RetryAfter }}' }];
  const { response } =
    refused([
      { ...CLOSED, rate: 5, unit: 'DAY', inject_response_headers },
      { ...CLOSED, error_response },
      { pattern: ['b'], rate: 1, inject_response_headers },
    ]) ?? {};
  assert.equal(Buffer.from(response?.raw_body ?? []).toString(), 'id-1 1');
  assert.deepEqual(
    response?.response_headers_to_add.map(({ key }) => key),
    ['retry-after'],
  );
});

for (const [what, limits] of [
  ['no limit', []],
  ['a limit of rate 1', [{ ...CLOSED, rate: 1 }]],
  ['a LogOnly limit of rate 0', [TRIAL]],
  ['a limit of rate 0 that a longer pattern hides', [CLOSED, { pattern: ['a', 'c'], rate: 1 }]],
] as const)
  test(`${what} refuses nothing that is not counted`, () => {
    assert.equal(refused(limits, ['a=1 c=1', 'b=1']), undefined);
  });
