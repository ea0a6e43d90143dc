import assert from 'node:assert/strict';
import { test } from 'node:test';
import { workersByDefault } from '#process/decision-config.ts';
import { readConfig } from './config.ts';

test('without environment the service has its documented addresses and counts in memory', () => {
  assert.deepEqual(readConfig({ REDIS_URL: '' }), {
    address: { host: '127.0.0.1', port: 18002 },
    xds: { host: '127.0.0.1', port: 18000 },
    workers: 1,
    reportTo: [],
    redis: undefined,
    storeTimeoutMs: 100,
    maxCounters: 500_000,
    tlsFolder: undefined,
    http: undefined,
    logLevel: 'info',
  });
});

test('REDIS_URL shares the counters', () => {
  const { redis } = readConfig({ REDIS_URL: 'redis://valkey:6379' });
  assert.deepEqual(redis?.addresses, [{ host: 'valkey', port: 6379 }]);
});

test('several workers count in Redis alone', () => {
  const REDIS_URL = 'redis://valkey:6379';
  assert.equal(readConfig({ REDIS_URL }).workers, workersByDefault());
  assert.equal(readConfig({ REDIS_URL, WORKERS: '4' }).workers, 4);
  assert.equal(readConfig({ WORKERS: '1' }).workers, 1);
  assert.throws(
    () => readConfig({ WORKERS: '4' }),
    /^Error: WORKERS is "4": .* set REDIS_URL, or WORKERS to 1$/,
  );
});

test('a REDIS_URL that is wrong is refused by name, without its password', () => {
  assert.throws(
    () => readConfig({ REDIS_URL: 'http://user:hunter2@valkey' }),
    (error: Error) => error.message.startsWith('REDIS_URL: ') && !error.message.includes('hunter2'),
  );
});

for (const [name, value] of [
  ['ADDRESS', '18002'],
  ['XDS_ADDRESS', ':1'],
  ['WORKERS', '0'],
  ['WORKERS', '1000'],
  ['STORE_TIMEOUT_MS', '0'],
  ['STORE_TIMEOUT_MS', '1.5'],
  ['MAX_COUNTERS', 'many'],
  ['HTTP_ADDRESS', '8081'],
  ['LOG_LEVEL', 'loud'],
] as const) {
  test(`${name}=${value} is refused by name`, () => {
    assert.throws(() => readConfig({ [name]: value }), new RegExp(`^Error: ${name} is "`));
  });
}
