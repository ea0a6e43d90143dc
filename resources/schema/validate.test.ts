import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemsOf } from '#resources/testing/problem-lines.ts';

test('a value that is wrong in two ways of which the same is said is told of once', () => {
  assert.deepEqual(problemsOf('Mapping', { prefix: '/a', service: 'a', timeout_ms: 1e20 }), [
    'error spec.timeout_ms: `timeout_ms` must be an integer of milliseconds from 0 to 2147483647, not 100000000000000000000',
  ]);
});
