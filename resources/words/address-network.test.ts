import assert from 'node:assert/strict';
import { SocketAddress } from 'node:net';
import { describe, test } from 'node:test';
import { addressNetwork } from './address-network.ts';

const CASES: readonly (readonly [address: string, prefix: string, network: string])[] = [
  ['192.0.2.7', '32/64', '192.0.2.7'],
  ['192.0.2.7', '24/64', '192.0.2.0/24'],
  ['192.0.255.7', '18/64', '192.0.192.0/18'],
  ['255.255.255.255', '1/64', '128.0.0.0/1'],
  ['2001:db8:1:2:3:4:5:6', '32/64', '2001:db8:1:2::/64'],
  ['2001:DB8:0001:0002::', '32/64', '2001:db8:1:2::/64'],
  ['2001:db8::1', '32/64', '2001:db8::/64'],
  ['2001:db8:0:1::1', '32/64', '2001:db8:0:1::/64'],
  ['2001:db8:1:2ff:3::', '32/56', '2001:db8:1:200::/56'],
  ['2001:db8:1:2ff:3::', '32/48', '2001:db8:1::/48'],
  ['ffff:ffff::', '32/1', '8000::/1'],
  ['1:2:3:4:5:6:7:8', '32/127', '1:2:3:4:5:6:7:8/127'],
  ['1:2:3:4:5:6:7:9', '32/127', '1:2:3:4:5:6:7:8/127'],
  ['2001:0db8:0:0:1::0001', '32/128', '2001:db8::1:0:0:1'],
  ['::1', '32/64', '::/64'],
  ['::', '32/128', '::'],
  ['::ffff:192.0.2.7', '32/64', '192.0.2.7'],
  ['::FFFF:c000:0207', '24/64', '192.0.2.0/24'],
  ['64:ff9b::192.0.2.33', '32/128', '64:ff9b::c000:221'],
  ['fe80::1:2%eth0', '32/64', 'fe80::%eth0/64'],
  ['FE80::1%2', '32/128', 'fe80::1%2'],
];
for (const [address, prefix, network] of CASES)
  test(`${address} at ${prefix} is ${network}`, () => {
    const [ipv4 = 0, ipv6 = 0] = prefix.split('/').map(Number);
    assert.equal(addressNetwork(address, { ipv4, ipv6 }), network);
  });

describe('networks of addresses', () => {
  test('all addresses of one /64 are one, those of two are two', () => {
    const of = (address: string) => addressNetwork(address, { ipv4: 32, ipv6: 64 });
    const hosts = ['::', '::1', 'ffff:ffff:ffff:ffff', '0:0:1:0', 'a:0:0:b'];
    const networks = hosts.map(host => of(`2001:db8:1:2:${host}`.replace(':::', '::')));
    assert.deepEqual(new Set(networks), new Set(['2001:db8:1:2::/64']));
    assert.notEqual(of('2001:db8:1:3::1'), of('2001:db8:1:2::1'));
  });

  test('are spelt as the system spells addresses', () => {
    for (let bits = 0; bits < 256; bits += 1) {
      const groups = Array.from({ length: 8 }, (_, at) => (bits & (1 << at) ? 'a' : '0')).join(':');
      const { address } = new SocketAddress({ address: groups, family: 'ipv6' });
      // inet_ntop writes ::a:a as an IPv4 address.
      if (address.includes('.')) continue;
      assert.equal(addressNetwork(groups, { ipv4: 32, ipv6: 128 }), address);
    }
  });

  test('what is no address counts as itself', () => {
    for (const text of ['', 'unknown', '/run/socket', '1.2.3', '1:2', '2001:db8::/64', '[::1]'])
      assert.equal(addressNetwork(text, { ipv4: 24, ipv6: 64 }), text);
  });
});
