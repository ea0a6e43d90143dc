import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countLookups } from '#process/testing/count-lookups.ts';
import { systemLookup } from './system-lookup.ts';

test('what /etc/hosts knows is found, and looked up again soon', async () => {
  assert.deepEqual(await systemLookup('localhost', 4), {
    kind: 'found',
    addresses: ['127.0.0.1'],
    ttlSeconds: 5,
  });
});

test('queries for the same name and family share one lookup while it goes on', async () => {
  const answers: Promise<unknown>[] = [];
  const ask = () =>
    answers.push(...([4, 4, 6] as const).map(family => systemLookup('localhost', family)));
  assert.equal(await countLookups(ask), 2);
  await Promise.all(answers);
});
