import assert from 'node:assert/strict';
import type { NetworkInterfaceInfo } from 'node:os';
import { test } from 'node:test';
import { instanceAddress } from './instance.ts';

const v4 = (address: string, internal = false): NetworkInterfaceInfo => ({
  ...{
    address,
    internal,
    family: 'IPv4',
    netmask: '255.0.0.0',
    mac: '00:00:00:00:00:00',
    cidr: null,
  },
});
const v6 = (address: string, internal = false): NetworkInterfaceInfo => ({
  ...{
    address,
    internal,
    family: 'IPv6',
    netmask: 'ffff::',
    mac: '00:00:00:00:00:00',
    cidr: null,
    scopeid: 0,
  },
});
const lo = [v4('127.0.0.1', true), v6('::1', true)];

for (const [name, host, interfaces, address] of [
  [
    'the address it listens on, where others reach that',
    '10.0.0.9',
    { lo, eth0: [v4('10.0.0.7')] },
    '10.0.0.9',
  ],
  [
    'of its machine, behind a proxy on the loopback',
    '127.0.0.1',
    { lo, eth0: [v4('10.0.0.7')] },
    '10.0.0.7',
  ],
  [
    'of its machine, when it listens everywhere',
    '0.0.0.0',
    { lo, eth0: [v4('10.0.0.7')] },
    '10.0.0.7',
  ],
  [
    'of its machine, when it listens on a name',
    'localhost',
    { lo, eth0: [v4('10.0.0.7')] },
    '10.0.0.7',
  ],
  ['IPv4 before IPv6', '::1', { lo, eth0: [v6('2001:db8::7'), v4('10.0.0.7')] }, '10.0.0.7'],
  [
    'IPv6 where there is no other',
    '::',
    { lo, eth0: [v6('fe80::1'), v6('2001:db8::7')] },
    '2001:db8::7',
  ],
  [
    'the loopback without any network',
    '127.0.0.1',
    { lo, wlan0: [v4('169.254.1.1')] },
    '127.0.0.1',
  ],
] as const) {
  test(`the address of an instance is ${name}`, () => {
    assert.equal(instanceAddress(host, interfaces), address);
  });
}
