import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeAny } from '#protos/encode.ts';
import type { Instance } from './instance.ts';
import { loadAssignment } from './load-assignment.ts';

const lbEndpoint = (address: string, port_value: number) => ({
  endpoint: { address: { socket_address: { address, port_value } }, hostname: undefined },
  health_status: undefined,
  load_balancing_weight: undefined,
});

test('an instance has every field in its place', () => {
  const locality = { region: 'eu', zone: 'eu-1' };
  const instance: Instance = {
    address: '10.0.0.1',
    port: 80,
    hostname: 'one',
    health_status: 'DRAINING',
    load_balancing_weight: 2,
    locality,
  };
  assert.deepEqual(loadAssignment('user-service', [instance]), {
    '@type': 'type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment',
    cluster_name: 'user-service',
    endpoints: [
      {
        locality,
        lb_endpoints: [
          {
            endpoint: {
              address: { socket_address: { address: '10.0.0.1', port_value: 80 } },
              hostname: 'one',
            },
            health_status: 'DRAINING',
            load_balancing_weight: 2,
          },
        ],
      },
    ],
  });
});

test('a service without instances is an assignment without endpoints', () => {
  assert.deepEqual(loadAssignment('gone', []).endpoints, []);
});

const a = { address: '10.0.0.1', port: 80 };
const b = { address: '10.0.0.1', port: 81 };
const c = { address: '::1', port: 80, locality: { zone: 'z' } };

test('the order of the instances changes no byte', () => {
  const orders = [
    [a, b, c],
    [c, b, a],
    [b, c, a],
  ];
  const bytes = orders.map(order =>
    Buffer.from(encodeAny(loadAssignment('s', order)).value).toString('hex'),
  );
  assert.deepEqual(bytes, Array(3).fill(bytes[0]));
});

test('each address and port counts once, and the first counts', () => {
  const ipv6 = { address: '2001:db8::1', port: 80 };
  assert.deepEqual(
    loadAssignment('s', [ipv6, { ...a, hostname: 'first' }, { ...a, hostname: 'second' }])
      .endpoints,
    [
      {
        locality: undefined,
        lb_endpoints: [
          {
            ...lbEndpoint('10.0.0.1', 80),
            endpoint: { ...lbEndpoint('10.0.0.1', 80).endpoint, hostname: 'first' },
          },
          lbEndpoint('2001:db8::1', 80),
        ],
      },
    ],
  );
});
