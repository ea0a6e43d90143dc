import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubernetesObject } from '#kubernetes/kubernetes-object.ts';
import type { Instance, Instances } from '../instance.ts';
import { instancesNamed, NO_SUCH_PORT } from '../instances-named.ts';
import { readEndpointSlice } from './endpoint-slice.ts';
import { readServicePorts } from './service-ports.ts';
import { SliceIndex } from './slice-index.ts';

const READY = { ready: true, serving: true, terminating: false };
const ENDING = { ready: false, serving: true, terminating: true };
const DEAD = { ready: false, serving: false, terminating: true };

const HTTP = [{ name: 'http', port: 8080, protocol: 'TCP' }];

let slices = 0;

/** An EndpointSlice of the service `users`, as the API gives it. */
function slice(
  fields: object,
  { service = 'users', namespace = 'default' } = {},
): KubernetesObject {
  slices += 1;
  return {
    metadata: {
      name: `users-${slices}`,
      namespace,
      labels: { 'kubernetes.io/service-name': service },
    },
    addressType: 'IPv4',
    ports: HTTP,
    endpoints: [],
    ...fields,
  };
}

const endpoint = (address: string, conditions: object = READY, more: object = {}) => ({
  addresses: [address],
  conditions,
  ...more,
});

function instancesOf(...objects: readonly KubernetesObject[]): Instances {
  const index = new SliceIndex('default');
  index.update(objects.map(object => [object.metadata.name, readEndpointSlice(object)]));
  return index.instances;
}

function addresses(instances: readonly Instance[] | undefined): string {
  const written = (instances ?? []).map(({ address, port, health_status = '' }) =>
    `${address}:${port} ${health_status}`.trim(),
  );
  return written.sort().join(', ');
}

test('a service is called by its namespace, in our own also without it, and by its port', () => {
  const here = slice({ endpoints: [endpoint('10.0.0.1')] });
  const there = slice({ endpoints: [endpoint('10.0.0.2')] }, { namespace: 'shop' });
  assert.deepEqual(
    [...instancesOf(here, there).keys()].sort(),
    [
      ...['users', 'users:8080', 'users:http'],
      ...['users.default', 'users.default:8080', 'users.default:http'],
      ...['users.shop', 'users.shop:8080', 'users.shop:http'],
    ].sort(),
  );
});

test('hostname and zone are kept', () => {
  const found = instancesOf(
    slice({ endpoints: [endpoint('10.0.0.1', READY, { hostname: 'users-0', zone: 'eu-1a' })] }),
  );
  assert.deepEqual(found.get('users'), [
    {
      address: '10.0.0.1',
      port: 8080,
      hostname: 'users-0',
      health_status: undefined,
      locality: { zone: 'eu-1a' },
    },
  ]);
});

const CONDITIONS: readonly [what: string, conditions: object | undefined, served: string][] = [
  ['nothing is known of', undefined, '10.0.0.1:8080'],
  ['is ready', READY, '10.0.0.1:8080'],
  ['says only that it does not end', { terminating: false }, '10.0.0.1:8080'],
  ['is not ready', { ready: false }, ''],
  ['ends and still answers, when no other is ready', ENDING, '10.0.0.1:8080 DRAINING'],
  ['ends and does not answer', DEAD, ''],
  ['ends, and was never said to answer', { ready: false, terminating: true }, ''],
];

for (const [what, conditions, served] of CONDITIONS) {
  test(`an endpoint that ${what} is served as "${served}"`, () => {
    const endpoints = [{ addresses: ['10.0.0.1'], conditions }];
    assert.equal(addresses(instancesOf(slice({ endpoints })).get('users')), served);
  });
}

test('an endpoint that ends is left out while another is ready', () => {
  const endpoints = [endpoint('10.0.0.1', ENDING), endpoint('10.0.0.2')];
  assert.equal(addresses(instancesOf(slice({ endpoints })).get('users')), '10.0.0.2:8080');
});

test('an endpoint that moves from slice to slice counts once, and as ready when one says so', () => {
  const found = instancesOf(
    slice({ endpoints: [endpoint('10.0.0.1', ENDING)] }),
    slice({ endpoints: [endpoint('10.0.0.1')] }),
  );
  assert.equal(addresses(found.get('users')), '10.0.0.1:8080');
});

test('an instance of both families counts once, with IPv4; one of IPv6 alone counts too', () => {
  const targetRef = (name: string) => ({
    targetRef: { kind: 'Pod', namespace: 'default', name, uid: name },
  });
  const found = instancesOf(
    slice({
      addressType: 'IPv6',
      endpoints: [
        endpoint('fd00::1', READY, targetRef('a')),
        endpoint('fd00::2', READY, targetRef('b')),
      ],
    }),
    slice({ endpoints: [endpoint('10.0.0.1', READY, targetRef('a'))] }),
  );
  assert.equal(addresses(found.get('users')), '10.0.0.1:8080, fd00::2:8080');
});

test('of several ports the plain name is the one called http, and each has its own name and number', () => {
  const ports = [
    { name: 'admin', port: 9000 },
    { name: 'http', port: 8080 },
    { name: 'dns', port: 53, protocol: 'UDP' },
  ];
  const found = instancesOf(slice({ ports, endpoints: [endpoint('10.0.0.1')] }));
  const at = (name: string) => addresses(found.get(name));
  assert.equal(at('users'), '10.0.0.1:8080');
  assert.equal(at('users:http'), '10.0.0.1:8080');
  assert.equal(at('users:admin'), '10.0.0.1:9000');
  assert.equal(at('users.default:9000'), '10.0.0.1:9000');
  assert.equal(found.get('users:dns'), undefined);
});

const service = (...ports: readonly object[]): KubernetesObject => ({
  metadata: { name: 'users', namespace: 'default' },
  spec: { ports },
});

function withService(object: KubernetesObject, ...objects: readonly KubernetesObject[]): Instances {
  const index = new SliceIndex('default');
  index.updatePorts([['default/users', readServicePorts(object)]]);
  index.update(objects.map(each => [each.metadata.name, readEndpointSlice(each)]));
  return index.instances;
}

const TWO_PORTS = slice({
  ports: [
    { name: 'http', port: 8080 },
    { name: 'admin', port: 9000 },
  ],
  endpoints: [endpoint('10.0.0.1')],
});

test('a number is that of the Service, else that of the instances, else of no port at all', () => {
  const found = withService(
    service(
      { name: 'http', port: 80 },
      { name: 'admin', port: 8080 },
      { name: 'dns', port: 53, protocol: 'UDP' },
    ),
    TWO_PORTS,
  );
  const at = (name: string) => addresses(instancesNamed(found, name));
  assert.equal(at('users:80'), '10.0.0.1:8080');
  assert.equal(at('users.default:8080'), '10.0.0.1:9000');
  assert.equal(at('users:9000'), '10.0.0.1:9000');
  assert.deepEqual(instancesNamed(found, 'users:53'), []);
  for (const missing of ['users:7777', 'users.default:7777'])
    assert.equal(instancesNamed(found, missing), NO_SUCH_PORT, missing);
});

test('the only port of a service is meant by any number, whether the Service can be read or not', () => {
  const only = slice({ endpoints: [endpoint('10.0.0.1')] });
  for (const found of [instancesOf(only), withService(service({ name: 'http', port: 80 }), only)])
    for (const number of [80, 8080, 7777])
      assert.equal(addresses(instancesNamed(found, `users:${number}`)), '10.0.0.1:8080');
});

test('without the Service a number that no instance has leads to the main port', () => {
  assert.equal(addresses(instancesNamed(instancesOf(TWO_PORTS), 'users:80')), '10.0.0.1:8080');
});

test('a port that the Service has and its slices do not yet is asked for in vain', () => {
  const found = withService(
    service({ name: 'http', port: 80 }, { name: 'new', port: 81 }),
    TWO_PORTS,
  );
  assert.deepEqual(instancesNamed(found, 'users:81'), []);
});

test('a Service that changes its ports, or goes, changes what numbers mean', () => {
  const index = new SliceIndex('default');
  const at = () => addresses(instancesNamed(index.instances, 'users:80'));
  index.update([['a', readEndpointSlice(TWO_PORTS)]]);
  for (const [name, served] of [
    ['admin', '10.0.0.1:9000'],
    ['http', '10.0.0.1:8080'],
  ] as const) {
    index.updatePorts([['default/users', [{ name, port: 80 }]]]);
    assert.equal(at(), served);
  }
  const before = index.instances;
  index.updatePorts([['default/users', [{ name: 'http', port: 80 }]]]);
  assert.equal(index.instances, before, 'what says the same changes nothing');
  index.updatePorts([['default/users', [{ name: 'http', port: 81 }]]]);
  assert.equal(instancesNamed(index.instances, 'users:80'), NO_SUCH_PORT);
  index.updatePorts([['default/users', undefined]]);
  assert.equal(at(), '10.0.0.1:8080');
});

test('without a port called http the plain name is the first that is listed', () => {
  const ports = [
    { name: 'web', port: 8080 },
    { name: 'grpc', port: 9000 },
  ];
  const found = instancesOf(slice({ ports, endpoints: [endpoint('10.0.0.1')] }));
  assert.equal(addresses(found.get('users')), '10.0.0.1:8080');
});

test('a named port may have another number in each slice', () => {
  const found = instancesOf(
    slice({ endpoints: [endpoint('10.0.0.1')] }),
    slice({ ports: [{ name: 'http', port: 8081 }], endpoints: [endpoint('10.0.0.2')] }),
  );
  assert.equal(addresses(found.get('users:http')), '10.0.0.1:8080, 10.0.0.2:8081');
  assert.equal(addresses(found.get('users:8081')), '10.0.0.2:8081');
});

test('slices for one address with different ports add up', () => {
  const found = instancesOf(
    slice({ endpoints: [endpoint('10.0.0.1')] }),
    slice({ ports: [{ name: 'admin', port: 9000 }], endpoints: [endpoint('10.0.0.1')] }),
  );
  assert.equal(addresses(found.get('users:admin')), '10.0.0.1:9000');
  assert.equal(addresses(found.get('users')), '10.0.0.1:8080');
});

test('a slice of host names is left out and says why', () => {
  const fqdn = slice({ addressType: 'FQDN', endpoints: [endpoint('users.example.org')] });
  assert.deepEqual(instancesOf(fqdn).get('users'), []);
  assert.match(readEndpointSlice(fqdn)?.problem ?? '', /of type FQDN: want IPv4 or IPv6/);
});

test('a slice that belongs to no service is none of ours', () => {
  const metadata = { name: 'x', namespace: 'default' };
  assert.equal(readEndpointSlice({ ...slice({}), metadata }), undefined);
  for (const name of ['', 'users.shop']) {
    const labels = { 'kubernetes.io/service-name': name };
    assert.equal(readEndpointSlice({ ...slice({}), metadata: { ...metadata, labels } }), undefined);
  }
});

const MALFORMED: readonly object[] = [
  { endpoints: null, ports: null },
  { endpoints: 'x', ports: {} },
  { endpoints: [null, 1, {}], ports: [null, {}, { port: '80' }, { port: 0 }, { port: 65_536 }] },
  {
    endpoints: [
      { addresses: null },
      { addresses: [] },
      { addresses: [1] },
      { addresses: ['nonsense'] },
    ],
  },
  { endpoints: [endpoint('fd00::1')] },
  { addressType: 'IPv6', endpoints: [endpoint('fe80::1%eth0')] },
  { addressType: undefined, endpoints: [endpoint('10.0.0.1')] },
];

for (const fields of MALFORMED) {
  test(`a slice with ${JSON.stringify(fields)} has no instances`, () => {
    assert.equal(addresses(instancesOf(slice(fields)).get('users')), '');
  });
}

test('only the services of changed slices get another array, and a service without slices has no name', () => {
  const index = new SliceIndex('default');
  const users = readEndpointSlice(slice({ endpoints: [endpoint('10.0.0.1')] }));
  const shop = readEndpointSlice(slice({ endpoints: [endpoint('10.0.0.2')] }, { service: 'shop' }));
  index.update([
    ['a', users],
    ['b', shop],
  ]);
  const before = index.instances;
  index.update([['b', undefined]]);
  assert.equal(index.instances.get('users'), before.get('users'));
  assert.deepEqual(
    [...index.instances.keys()].filter(name => name.startsWith('shop')),
    [],
  );
  assert.equal(before.has('shop'), true, 'what was published does not change');
});

test('a slice that changes hands leaves its old service', () => {
  const index = new SliceIndex('default');
  index.update([['a', readEndpointSlice(slice({ endpoints: [endpoint('10.0.0.1')] }))]]);
  index.update([
    ['a', readEndpointSlice(slice({ endpoints: [endpoint('10.0.0.1')] }, { service: 'shop' }))],
  ]);
  assert.equal(index.instances.has('users'), false);
  assert.equal(addresses(index.instances.get('shop')), '10.0.0.1:8080');
});

test('a port of UDP has its number of the Service, beside those of TCP', () => {
  const ports = [
    { name: 'dns', port: 5353, protocol: 'UDP' },
    { name: 'dns-tcp', port: 5354, protocol: 'TCP' },
    { name: 'stats', port: 9000, protocol: 'UDP' },
  ];
  const index = new SliceIndex('default');
  const object = slice({ ports, endpoints: [endpoint('10.0.0.1')] });
  index.update([['a', readEndpointSlice(object)]]);
  const spec = {
    ports: [
      { name: 'dns', port: 53, protocol: 'UDP' },
      { name: 'dns-tcp', port: 53, protocol: 'TCP' },
      { name: 'stats', port: 8125, protocol: 'UDP' },
    ],
  };
  const found = (name: string) =>
    addresses(instancesNamed(index.instances, `users.default${name}`));
  assert.deepEqual([found(':5353'), found(':9000')], ['10.0.0.1:5353', '10.0.0.1:9000']);
  index.updatePorts([['default/users', readServicePorts({ metadata: { name: 'users' }, spec })]]);
  assert.deepEqual(
    [found(''), found(':53'), found(':53/udp'), found(':8125')],
    ['10.0.0.1:5354', '10.0.0.1:5354', '10.0.0.1:5353', '10.0.0.1:9000'],
  );
});

test('a headless Service and one without a selector are found by the number of the Service', () => {
  const ports = [{ name: 'first-port', port: 3000, protocol: 'TCP' }];
  for (const more of [{}, { clusterIP: 'None' }]) {
    const index = new SliceIndex('gateway');
    // Slices that somebody made by hand say nothing of conditions.
    const made = slice({ ports, endpoints: [{ addresses: ['10.0.0.7'] }] }, { namespace: 'shop' });
    index.update([['a', readEndpointSlice(made)]]);
    const spec = { ...more, ports: [{ name: 'first-port', port: 8080, targetPort: 3000 }] };
    index.updatePorts([['shop/users', readServicePorts({ metadata: { name: 'users' }, spec })]]);
    assert.equal(addresses(instancesNamed(index.instances, 'users.shop:8080')), '10.0.0.7:3000');
  }
});
