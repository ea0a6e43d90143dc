import assert from 'node:assert/strict';
import { test } from 'node:test';
import { edgeAddresses } from './edge-addresses.ts';

const service = (spec: object, ingress: readonly object[] = []) => ({
  metadata: { name: 'public-gateway' },
  spec,
  status: { loadBalancer: { ingress } },
});
const BALANCED = { type: 'LoadBalancer', clusterIPs: ['10.0.0.1'] };
const ip = (value: string) => ({ type: 'IPAddress' as const, value });

test('a Gateway without a Service has no address', () => {
  assert.deepEqual(edgeAddresses(undefined, []), { addresses: [], missing: [] });
  assert.deepEqual(edgeAddresses(undefined, ['192.0.2.1']).missing, ['192.0.2.1']);
});

test('a balanced Service has the addresses and names that the balancer gave', () => {
  const given = service(BALANCED, [{ ip: '192.0.2.1' }, { hostname: 'lb.example' }, {}]);
  assert.deepEqual(edgeAddresses(given, []).addresses, [
    ip('192.0.2.1'),
    { type: 'Hostname', value: 'lb.example' },
  ]);
  assert.deepEqual(edgeAddresses(service(BALANCED), []).addresses, []);
});

test('other Services have their external addresses, and those inside the cluster', () => {
  const spec = { type: 'NodePort', externalIPs: ['192.0.2.1'], clusterIPs: ['10.0.0.1', 'None'] };
  assert.deepEqual(edgeAddresses(service(spec), []).addresses, [ip('192.0.2.1'), ip('10.0.0.1')]);
});

test('of the addresses asked for, those that it has are given, and the others are missing', () => {
  const given = service(BALANCED, [{ ip: '192.0.2.1' }, { ip: '2001:db8::1' }]);
  assert.deepEqual(edgeAddresses(given, ['2001:DB8:0::1', '192.0.2.2']), {
    addresses: [ip('2001:DB8:0::1')],
    missing: ['192.0.2.2'],
  });
});
