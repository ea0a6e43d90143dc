import assert from 'node:assert/strict';
import { test } from 'node:test';
import { retryPolicy } from '#resources/traffic/retry-policy.ts';
import { repeats } from './late-tries.ts';

for (const [timeout_ms, written, repeatsLate] of [
  [3_000, undefined, false],
  [0, undefined, false],
  [3_000, { retry_on: '5xx' }, false],
  [3_000, { retry_on: '5xx', per_try_timeout: '1s' }, true],
  [3_000, { retry_on: 'connect-failure, gateway-error', per_try_timeout: '1s' }, true],
  [3_000, { retry_on: 'reset', per_try_timeout: '1s' }, true],
  [3_000, { retry_on: 'retriable-4xx', per_try_timeout: '1s' }, false],
  [3_000, { per_try_timeout: '1s' }, false],
  [3_000, { retry_on: '5xx', per_try_timeout: '3s' }, false],
  [0, { retry_on: '5xx', per_try_timeout: '1s' }, true],
  [0, { retry_on: '5xx' }, false],
] as const) {
  const what = `timeout_ms: ${timeout_ms}, retry_policy: ${JSON.stringify(written)}`;
  test(`with ${what} a late try is ${repeatsLate ? '' : 'not '}repeated`, () => {
    const bounds = {
      timeout_ms,
      ...(written === undefined ? {} : { retry_policy: retryPolicy.parse(written) }),
    };
    assert.equal('typed_per_filter_config' in repeats(bounds), repeatsLate);
  });
}
