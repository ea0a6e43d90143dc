import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemLookup } from './system-lookup.ts';

test('what /etc/hosts knows is found, and looked up again soon', async () => {
  assert.deepEqual(await systemLookup('localhost', 4), {
    kind: 'found',
    addresses: ['127.0.0.1'],
    ttlSeconds: 5,
  });
});
