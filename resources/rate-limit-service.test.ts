import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentOf, parseText, problemsOf } from './testing/problem-lines.ts';

test('a RateLimitService needs a service, the rest has defaults', () => {
  const [resource] = parseText(documentOf('RateLimitService', { service: 'limits:8081' })).resources;
  assert.deepEqual(resource?.spec, {
    service: { scheme: 'http', host: 'limits', port: 8081 },
    timeout_ms: 20,
    failure_mode_deny: false,
    tls: false,
    gateway_id: ['default'],
  });
  assert.deepEqual(problemsOf('RateLimitService', {}), [
    'error spec.service: `service` is required: [http://|https://]name[.namespace][:port]',
  ]);
});

const REFUSED: readonly [fields: object, problem: string][] = [
  [{ domain: '' }, 'domain: `domain` must not be empty'],
  [
    { timeout_ms: 0 },
    'timeout_ms: `timeout_ms` must be an integer of milliseconds from 1 to 2147483647, not 0',
  ],
  [{ tls: 'context' }, 'tls: `tls` must be `true` or `false`, not "context"'],
  [
    { stats_name: 'a b' },
    'stats_name: "a b" is no name for statistics: 1 to 60 letters, digits, "_" and "-"',
  ],
];

for (const [fields, problem] of REFUSED) {
  test(`a RateLimitService with ${JSON.stringify(fields)} is refused`, () => {
    assert.deepEqual(problemsOf('RateLimitService', { service: 'a', ...fields }), [`error spec.${problem}`]);
  });
}
