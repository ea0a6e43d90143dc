import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from './config.ts';

test('without environment the service has its documented addresses and counts in memory', () => {
  assert.deepEqual(readConfig({ REDIS_URL: ' ' }), {
    address: { host: '127.0.0.1', port: 18002 },
    xds: { host: '127.0.0.1', port: 18000 },
    redisUrl: undefined,
    storeTimeoutMs: 10,
    maxCounters: 500_000,
    logLevel: 'info',
  });
});

for (const [name, value] of [
  ['ADDRESS', '18002'],
  ['XDS_ADDRESS', ':1'],
  ['STORE_TIMEOUT_MS', '0'],
  ['STORE_TIMEOUT_MS', '1.5'],
  ['MAX_COUNTERS', 'many'],
  ['LOG_LEVEL', 'loud'],
] as const) {
  test(`${name}=${value} is refused by name`, () => {
    assert.throws(() => readConfig({ [name]: value }), new RegExp(`^Error: ${name} is "`));
  });
}
