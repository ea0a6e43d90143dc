import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientNetwork } from './client-network.ts';

const TABLE: readonly [address: string, network: string][] = [
  ['192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002::', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80:1:2:3::', 'fe80:1:2:3::/64'],
  ['1::2:3:4:5:6', '1:0:0:2::/64'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['', ''],
  ['@socket', '@socket'],
];

for (const [address, network] of TABLE) {
  test(`"${address}" is of "${network}"`, () => {
    assert.equal(clientNetwork(address), network);
  });
}
