import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemLookup } from './system-lookup.ts';

test('one lookup answers all who ask for the same meanwhile', async () => {
  const [one, same, other] = ([4, 4, 6] as const).map(family => systemLookup('localhost', family));
  assert.equal(one, same);
  assert.notEqual(one, other);
  await Promise.all([one, other]);
  assert.notEqual(systemLookup('localhost', 4), one);
});

test('what /etc/hosts knows is found, and looked up again soon', async () => {
  assert.deepEqual(await systemLookup('localhost', 4), {
    kind: 'found',
    addresses: ['127.0.0.1'],
    ttlSeconds: 5,
  });
});
