import assert from 'node:assert/strict';
import { isIP } from 'node:net';
import { test } from 'node:test';
import { ipVersion } from './ip-address.ts';

const TEXTS = [
  '127.0.0.1',
  '0.0.0.0',
  '255.255.255.255',
  '256.0.0.1',
  '1.2.3',
  '1.2.3.4.5',
  '01.2.3.4',
  '1.2.3.4 ',
  '',
  'a',
  '1',
  '::',
  '::1',
  '1::',
  '2001:db8::1',
  '2001:DB8::1',
  '::ffff:1.2.3.4',
  '1:2:3:4:5:6:7:8',
  '1:2:3:4:5:6:7',
  '1:2:3:4:5:6:7:8:9',
  '1::2::3',
  ':::',
  '12345::',
  '[::1]',
  '::1:80:',
  'g::',
  '64:ff9b::1.2.3.4',
  '1:2:3:4:5:6:1.2.3.4',
  '::1/64',
];

for (const text of TEXTS) {
  test(`"${text}" has the IP version that Node sees in it`, () =>
    assert.equal(ipVersion(text), isIP(text)));
}

test('an address with a zone is none: it means something on one machine only', () => {
  assert.equal(ipVersion('fe80::1%eth0'), 0);
});
