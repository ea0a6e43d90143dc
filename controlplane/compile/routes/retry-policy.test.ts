import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RETRY_POLICY } from './retry-policy.ts';

test('a dead instance does not come up at every look for another, however often it comes up', () => {
  const looks = 1 + Number(RETRY_POLICY.host_selection_retry_max_attempts);
  // Of two instances, with `least_request`: the dead one has the fewest requests.
  assert.ok((3 / 4) ** looks < 1e-20);
  // By weight it has its turns in a row.
  assert.ok(looks > 128);
});
