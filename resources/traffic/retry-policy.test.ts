import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentOf, parseText, problemsOf } from '#resources/testing/problem-lines.ts';

const mappingWith = (retry_policy: unknown, more: object = {}) => ({
  prefix: '/user',
  service: 'user',
  retry_policy,
  ...more,
});

function read(policy: unknown): unknown {
  const [resource] = parseText(documentOf('Mapping', mappingWith(policy))).resources;
  return resource?.kind === 'Mapping' ? resource.spec.retry_policy : undefined;
}

const READ: readonly [written: object, expected: object][] = [
  [{ retry_on: '5xx' }, { retry_on: ['5xx'], num_retries: 1 }],
  [
    { retry_on: 'gateway-error,reset', num_retries: 10, per_try_timeout: '0.3s' },
    { retry_on: ['gateway-error', 'reset'], num_retries: 10, per_try_timeout: 300 },
  ],
  [
    { retry_on: ['connect-failure'], num_retries: 0, per_try_timeout: '1us' },
    { retry_on: ['connect-failure'], num_retries: 0, per_try_timeout: 1 },
  ],
  [{ num_retries: 0 }, { retry_on: [], num_retries: 0 }],
];

for (const [written, expected] of READ) {
  test(`retry_policy ${JSON.stringify(written)} is read as ${JSON.stringify(expected)}`, () => {
    assert.deepEqual(read(written), expected);
    assert.deepEqual(problemsOf('Mapping', mappingWith(written)), []);
  });
}

const REFUSED: readonly [written: object, problem: string][] = [
  [
    { retry_on: '5XX' },
    'error spec.retry_policy.retry_on: "5XX" is no condition for a retry, did you mean `5xx`?',
  ],
  [
    { retry_on: '5xx', num_retries: 101 },
    'error spec.retry_policy.num_retries: `num_retries` must be an integer from 0 to 100, not 101',
  ],
  [
    { retry_on: '5xx', num_retries: '3' },
    'error spec.retry_policy.num_retries: `num_retries` must be an integer from 0 to 100, not "3"',
  ],
  [
    { retry_on: '5xx', per_try_timeout: '3' },
    'error spec.retry_policy.per_try_timeout: Cannot parse duration "3": a unit is missing: ns, us, ms, s, m or h',
  ],
  [
    { retry_on: '5xx', per_try_timeout: '0s' },
    'error spec.retry_policy.per_try_timeout: Cannot parse duration "0s": it must be longer than 0',
  ],
  [
    { retry_on: '5xx', per_try_timeout: '1000h' },
    'error spec.retry_policy.per_try_timeout: it is longer than 2147483647 milliseconds',
  ],
];

for (const [written, problem] of REFUSED) {
  test(`a Mapping with retry_policy ${JSON.stringify(written)} is rejected`, () => {
    assert.deepEqual(problemsOf('Mapping', mappingWith(written)), [problem]);
    assert.equal(read(written), undefined);
  });
}

test('a condition that never holds, and a time that ends nothing, have a warning', () => {
  assert.deepEqual(problemsOf('Mapping', mappingWith({ retry_on: 'retriable-status-codes' })), [
    'warning spec.retry_policy.retry_on: `retriable-status-codes` never holds: there is no field for the codes',
  ]);
  const slow = { retry_on: '5xx', per_try_timeout: '3s' };
  assert.deepEqual(problemsOf('Mapping', mappingWith(slow)), [
    'warning spec.retry_policy.per_try_timeout: it never ends a try: `timeout_ms` is 3000',
  ]);
  assert.deepEqual(problemsOf('Mapping', mappingWith(slow, { timeout_ms: 0 })), []);
});
