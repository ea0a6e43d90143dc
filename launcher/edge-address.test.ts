import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseAddress } from './edge-address.ts';

const PORTS = { edge: 8080, edgeTls: 8443 };

for (const [what, listeners, expected] of [
  ['nothing', '', '127.0.0.1:8080'],
  ['its default address', 'edge::127.0.0.1:8080\n', '127.0.0.1:8080'],
  ['the default port on all interfaces', 'edge::0.0.0.0:8080\n', '127.0.0.1:8080'],
  ['another port', 'edge::127.0.0.1:9000\n', '127.0.0.1:9000'],
  ['another port on all interfaces', 'edge::0.0.0.0:9000\n', '127.0.0.1:9000'],
  ['another port, IPv6', 'edge::[::]:9000\n', '127.0.0.1:9000'],
  ['another address', 'edge::192.0.2.7:9000\n', '192.0.2.7:9000'],
  ['the default port of another address', 'edge::192.0.2.7:8080\n', '192.0.2.7:8080'],
  ['the default port and another one', 'a::0.0.0.0:9000\nb::127.0.0.1:8080\n', '127.0.0.1:8080'],
  ['TLS and another port', 'tls::127.0.0.1:8443\na::127.0.0.1:9000\n', '127.0.0.1:9000'],
  ['TLS alone', 'tls::127.0.0.1:8443\n', '127.0.0.1:8080'],
] as const)
  test(`an edge that listens on ${what} is announced at ${expected}`, () => {
    assert.equal(chooseAddress(listeners, PORTS), expected);
  });
