import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from './config.ts';

const INSTANCES_FILE = '/etc/gateway/instances.yaml';

test('only the instances file has to be named', () => {
  assert.deepEqual(readConfig({ INSTANCES_FILE, LOG_LEVEL: '' }), {
    host: '127.0.0.1',
    port: 18003,
    instancesFile: INSTANCES_FILE,
    dnsServers: [],
    dnsMaxTtlSeconds: 60,
    logLevel: 'info',
  });
});

test('everything can be set', () => {
  const env = {
    INSTANCES_FILE,
    ADDRESS: '[::1]:0',
    DNS_SERVERS: '10.0.0.53, [::1]:5353',
    DNS_MAX_TTL_SECONDS: '5',
    LOG_LEVEL: 'debug',
  };
  assert.deepEqual(readConfig(env), {
    host: '::1',
    port: 0,
    instancesFile: INSTANCES_FILE,
    dnsServers: ['10.0.0.53', '[::1]:5353'],
    dnsMaxTtlSeconds: 5,
    logLevel: 'debug',
  });
});

const BAD: readonly [variable: string, value: string][] = [
  ['INSTANCES_FILE', ''],
  ['ADDRESS', '18003'],
  ['ADDRESS', '127.0.0.1:99999'],
  ['ADDRESS', '::1:80'],
  ['DNS_SERVERS', 'dns.google'],
  ['DNS_MAX_TTL_SECONDS', '0'],
  ['DNS_MAX_TTL_SECONDS', '-5'],
  ['DNS_MAX_TTL_SECONDS', '1.5'],
  ['DNS_MAX_TTL_SECONDS', '5s'],
  ['DNS_MAX_TTL_SECONDS', '86401'],
  ['LOG_LEVEL', 'loud'],
];

for (const [variable, value] of BAD) {
  test(`${variable}=${value} is refused by name`, () => {
    assert.throws(
      () => readConfig({ INSTANCES_FILE, [variable]: value }),
      new RegExp(`^Error: ${variable} is`),
    );
  });
}
