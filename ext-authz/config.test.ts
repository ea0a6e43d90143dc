import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { workersByDefault } from '#process/decision-config.ts';
import { readConfig } from './config.ts';

const KEY = '0123456789abcdef'.repeat(4);

test('without environment the service has its documented addresses and keeps sessions in a file', () => {
  assert.deepEqual(readConfig({ REDIS_URL: '', STORE_KEY: '' }), {
    address: { host: '127.0.0.1', port: 18001 },
    xds: { host: '127.0.0.1', port: 18000 },
    reportTo: [],
    workers: workersByDefault(),
    redis: undefined,
    state: resolve('.gateway'),
    storeFile: resolve('.gateway/sessions.sqlite'),
    storeKey: undefined,
    storeTimeoutMs: 500,
    tlsFolder: undefined,
    http: undefined,
    logLevel: 'info',
  });
});

test('what is found is told to every control plane that is named', () => {
  assert.deepEqual(
    readConfig({ REPORT_ADDRESSES: 'controlplanes:18000, 10.0.0.5:18000' }).reportTo,
    [
      { host: 'controlplanes', port: 18000 },
      { host: '10.0.0.5', port: 18000 },
    ],
  );
});

test('REDIS_URL shares the sessions', () => {
  assert.deepEqual(readConfig({ REDIS_URL: 'redis://valkey:6379' }).redis?.addresses, [
    { host: 'valkey', port: 6379 },
  ]);
});

test('the store key comes from the environment or from a file', () => {
  const keys = [{ STORE_KEY: KEY }, { STORE_KEY_FILE: '/key' }].map(
    env => readConfig(env, () => `${KEY}\n`).storeKey,
  );
  for (const key of keys) assert.equal(key?.export().toString('hex'), KEY);
});

for (const [name, value] of [
  ['ADDRESS', '18001'],
  ['XDS_ADDRESS', ':1'],
  ['REPORT_ADDRESSES', 'controlplanes:18000,10.0.0.5'],
  ['REPORT_ADDRESSES', ','],
  ['WORKERS', '0'],
  ['WORKERS', '1000'],
  ['STORE_TIMEOUT_MS', '0'],
  ['STORE_TIMEOUT_MS', '4000'],
  ['HTTP_ADDRESS', '8081'],
  ['LOG_LEVEL', 'loud'],
] as const) {
  test(`${name}=${value} is refused by name`, () => {
    assert.throws(() => readConfig({ [name]: value }), new RegExp(`^Error: ${name} is "`));
  });
}

for (const env of [
  { STORE_KEY: 'hunter2' },
  { STORE_KEY_FILE: '/nowhere/hunter2' },
  { STORE_KEY: KEY, STORE_KEY_FILE: '/key' },
  { REDIS_URL: 'http://user:hunter2@valkey' },
]) {
  test(`${Object.keys(env)} that is wrong is refused by name, without the secret`, () => {
    assert.throws(
      () => readConfig(env),
      ({ message }: Error) =>
        message.startsWith(Object.keys(env)[0] ?? '') &&
        !message.includes(KEY) &&
        ('STORE_KEY_FILE' in env || !message.includes('hunter2')),
    );
  });
}
