import assert from 'node:assert/strict';
import { test } from 'node:test';
import { registration } from './registration.ts';

test('hosts carry address, port and the tags that are known', () => {
  const json = registration([
    { address: '10.0.0.2', port: 80 },
    { address: '10.0.0.1', port: 80, load_balancing_weight: 7, locality: { zone: 'eu-1' } },
  ]);
  assert.deepEqual(JSON.parse(JSON.stringify(json)), {
    hosts: [
      { ip_address: '10.0.0.1', port: 80, tags: { az: 'eu-1', load_balancing_weight: 7 } },
      { ip_address: '10.0.0.2', port: 80, tags: {} },
    ],
  });
});

test('hosts that must not get requests are left out', () => {
  const json = registration([
    { address: '10.0.0.1', port: 80, health_status: 'DRAINING' },
    { address: '10.0.0.2', port: 80, health_status: 'UNHEALTHY' },
    { address: '10.0.0.3', port: 80, health_status: 'DEGRADED' },
  ]);
  assert.deepEqual(
    (json.hosts as { ip_address: string }[]).map(host => host.ip_address),
    ['10.0.0.3'],
  );
});
