import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { chancesOf } from '#controlplane/compile/testing/seeded-pick.ts';
import { type EdgeAddress, edgeAddresses, NOT_ASSIGNED } from './edge-addresses.ts';
import type { AskedAddress } from './edge-gateway.ts';

const service = (spec: object, ingress: readonly object[] = []) => ({
  object: { metadata: { name: 'public-gateway' }, spec, status: { loadBalancer: { ingress } } },
});
const BALANCED = { type: 'LoadBalancer', clusterIPs: ['10.0.0.1'] };
const INSIDE = { type: 'ClusterIP', clusterIPs: ['10.0.0.1'] };
const SENTINEL = 'testing.x-k8s.io/sentinel';

/** Reads `192.0.2.1:Cluster`, of which both parts may be empty. An IPv6 address is in brackets. */
function toAsked(text: string): AskedAddress {
  const [, value = '', routability = ''] = /^\[?(.*?)\]?:([^:]*)$/.exec(text) ?? [];
  return value === '' ? { routability } : { value, routability };
}

const tell = (addresses: readonly EdgeAddress[]) =>
  addresses.map(({ routability, value }) => `${value}:${routability}`);

test('a Gateway without a Service has no address', () => {
  assert.deepEqual(edgeAddresses([], []), { addresses: [], missing: [] });
  const { addresses, missing } = edgeAddresses([{ object: undefined }], [toAsked(':')]);
  assert.deepEqual([addresses, missing[0]?.message], [[], NOT_ASSIGNED]);
});

test('a balanced Service has the addresses and names that the balancer gave', () => {
  const given = service(BALANCED, [{ ip: '192.0.2.1' }, { hostname: 'lb.example' }, {}]);
  assert.deepEqual(edgeAddresses([given], []).addresses, [
    { type: 'IPAddress', value: '192.0.2.1', routability: '' },
    { type: 'Hostname', value: 'lb.example', routability: '' },
  ]);
  assert.deepEqual(edgeAddresses([service(BALANCED)], []).addresses, []);
});

test('other Services have their external addresses, and those inside the cluster', () => {
  const spec = { type: 'NodePort', externalIPs: ['192.0.2.1'], clusterIPs: ['10.0.0.1', 'None'] };
  const { addresses } = edgeAddresses([service(spec)], []);
  assert.deepEqual(tell(addresses), ['192.0.2.1:', '10.0.0.1:Cluster']);
});

describe('each address that is asked for is judged by itself', () => {
  const FURTHER = [service({ type: 'ClusterIP', clusterIPs: ['10.0.0.2'] })];
  const ONE = [service(BALANCED, [{ ip: '192.0.2.1' }])];
  const TWO = [service(BALANCED, [{ ip: '192.0.2.1' }, { ip: '2001:db8::1' }])];
  const NAMED = [service(BALANCED, [{ hostname: 'lb.example' }])];

  type Case = readonly [
    asked: string,
    services: Parameters<typeof edgeAddresses>[0],
    had: string,
    missing?: string,
  ];
  const CASES: readonly Case[] = [
    [':', ONE, '192.0.2.1:'],
    [': :', ONE, '192.0.2.1:', '1 AddressNotAssigned'],
    [': :', TWO, '192.0.2.1: 2001:db8::1:'],
    [':', NAMED, '', '0 AddressNotAssigned'],
    ['[2001:DB8:0::1]: 192.0.2.2:', TWO, '2001:DB8:0::1:', '1 AddressNotUsable'],
    [': 192.0.2.1:', TWO, '2001:db8::1: 192.0.2.1:'],
    [':Cluster', ONE, '10.0.0.1:Cluster'],
    [': :Cluster', ONE, '192.0.2.1: 10.0.0.1:Cluster'],
    [':Cluster :', ONE, '10.0.0.1:Cluster 192.0.2.1:'],
    // What the balancer has not given yet must not be one inside the cluster.
    [': :Cluster', [service(BALANCED), ...FURTHER], '10.0.0.1:Cluster', '0 AddressNotAssigned'],
    ['10.0.0.1:', ONE, '', '0 AddressNotUsable'],
    ['192.0.2.1:Cluster', ONE, '', '0 AddressNotAssigned'],
    [':Cluster :Cluster', ONE, '10.0.0.1:Cluster', '1 AddressNotAssigned'],
    [':Cluster :Cluster', [...ONE, ...FURTHER], '10.0.0.1:Cluster 10.0.0.2:Cluster'],
    [':Cluster 10.0.0.1:Cluster', [...ONE, ...FURTHER], '10.0.0.2:Cluster 10.0.0.1:Cluster'],
    ['10.0.0.1:Cluster 10.0.0.1:Cluster', ONE, '10.0.0.1:Cluster', '1 AddressNotAssigned'],
    // Without a balancer a ClusterIP is what there is.
    [':', [service(INSIDE)], '10.0.0.1:Cluster'],
    ['10.0.0.1:', [service(INSIDE)], '10.0.0.1:Cluster'],
    [': :Cluster', [service(INSIDE)], '10.0.0.1:Cluster', '0 AddressNotAssigned'],
    [`:${SENTINEL}`, ONE, `192.0.2.1:${SENTINEL}`],
    [`192.0.2.1:${SENTINEL}`, ONE, `192.0.2.1:${SENTINEL}`],
    [':testing.x-k8s.io/other', ONE, '', '0 AddressNotAssigned'],
    [':example.com/wan :', ONE, '192.0.2.1:', '0 AddressNotAssigned'],
    ['192.0.2.1:example.com/wan', ONE, '', '0 AddressNotAssigned'],
  ];

  for (const [asked, services, had, missing] of CASES) {
    test(`${asked} of ${services.length} Services is ${had || 'nothing'}, without ${missing ?? 'nothing'}`, () => {
      const found = edgeAddresses(services, asked.split(' ').map(toAsked));
      assert.equal(tell(found.addresses).join(' '), had);
      const told = found.missing.map(({ field, reason }) => `${/\d+/.exec(field)?.[0]} ${reason}`);
      assert.deepEqual(told, missing === undefined ? [] : [missing]);
    });
  }
});

test('no request gets what it did not ask for, and none goes without what is left', () => {
  const VALUES = ['', '10.0.0.1', '10.0.0.2', '192.0.2.1', '192.0.2.2'];
  const SCOPES = ['', 'Cluster', SENTINEL, 'example.com/wan'];
  for (let seed = 0; seed < 500; seed++) {
    const { chance, pick } = chancesOf(seed);
    const asked = Array.from({ length: 5 }, () => toAsked(`${pick(VALUES)}:${pick(SCOPES)}`));
    const given = VALUES.slice(3).filter(() => chance(0.6));
    const further = chance(0.5) ? [service({ type: 'ClusterIP', clusterIPs: ['10.0.0.2'] })] : [];
    const isBalanced = chance(0.5);
    const main = isBalanced
      ? service(
          BALANCED,
          given.map(ip => ({ ip })),
        )
      : service({ ...INSIDE, externalIPs: given });
    const { addresses, missing } = edgeAddresses([main, ...further], asked);
    const about = `seed ${seed}`;
    assert.equal(addresses.length + missing.length, asked.length, about);
    assert.equal(new Set(addresses.map(({ value }) => value)).size, addresses.length, about);
    const lacks = new Set(missing.map(({ field }) => Number(/\d+/.exec(field)?.[0])));
    const served = asked.filter((_, index) => !lacks.has(index));
    for (const [index, { routability, value }] of addresses.entries()) {
      const { routability: wanted, value: exact = value } = served[index] ?? { routability: '?' };
      const isInside = value.startsWith('10.');
      assert.equal(value, exact, about);
      assert.equal(routability, wanted || (isInside ? 'Cluster' : ''), about);
      if (wanted === 'Cluster') assert.ok(isInside, about);
      else assert.ok(!isInside || !isBalanced, about);
    }
    const had = new Set(addresses.map(({ value }) => value));
    const left = ['10.0.0.1', ...(further.length > 0 ? ['10.0.0.2'] : []), ...given].filter(
      value => !had.has(value),
    );
    for (const index of lacks) {
      const { routability = '', value: exact } = asked[index] ?? {};
      const fits = left.filter(value => {
        const isInside = value.startsWith('10.');
        const isMeant = exact === undefined || exact === value;
        if (routability === 'Cluster') return isInside && isMeant;
        return isMeant && routability !== 'example.com/wan' && (!isInside || !isBalanced);
      });
      assert.deepEqual(fits, [], `${about}, address ${index}`);
    }
  }
});

test('what the API says against a ClusterIP is told', () => {
  const rejected = { object: undefined, clusterIP: '10.9.9.9', rejected: 'not in the valid range' };
  const asked = ['10.9.9.9:Cluster', ':Cluster'].map(toAsked);
  const { missing } = edgeAddresses([{ object: undefined }, rejected], asked);
  assert.deepEqual(
    missing.map(({ message }) => message),
    [
      '10.9.9.9 cannot be had as a ClusterIP: not in the valid range',
      'the cluster has not assigned a ClusterIP yet',
    ],
  );
});
