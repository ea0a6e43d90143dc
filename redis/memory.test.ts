import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readMemory } from './memory.ts';

const INFO = [
  '# Memory',
  'used_memory:1048576',
  'used_memory_human:1.00M',
  'maxmemory:2097152',
  'maxmemory_policy:allkeys-lfu',
  '# Stats',
  'evicted_keys:12',
].join('\r\n');

test('the answer to INFO tells how full a Redis is', () => {
  const memory = { usedBytes: 1_048_576, maxBytes: 2_097_152, policy: 'allkeys-lfu', evicted: 12 };
  assert.deepEqual(readMemory(INFO), memory);
});

test('what is no such answer tells nothing', () => {
  for (const info of [undefined, null, 5, '', '# Memory\r\nused_memory:1', ['x']])
    assert.equal(readMemory(info), undefined);
});
