import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeStep } from './scale.ts';

test('gateway scale says how many instances serve', () => {
  assert.equal(describeStep({ instances: 0 }), '0 instances serve');
  assert.equal(describeStep({ instances: 1 }), '1 instance serves');
  assert.equal(describeStep({ instances: 2 }), '2 instances serve');
  assert.equal(describeStep({ progress: 'starting' }), 'starting');
});
