import assert from 'node:assert/strict';
import { test } from 'node:test';
import { protocolOf } from './sniff.ts';

for (const [first, protocol] of [
  ['', undefined],
  ['P', undefined],
  ['PR', undefined],
  ['PRI', undefined],
  ['PRI ', 'http2'],
  ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'http2'],
  ['PO', 'http1'],
  ['POST / HTTP/1.1\r\n', 'http1'],
  ['PROPFIND', 'http1'],
  ['G', 'http1'],
  ['\x16\x03\x01\x02\x00', 'http1'],
] as const) {
  test(`${JSON.stringify(first)} is ${protocol ?? 'not enough to tell'}`, () => {
    assert.equal(protocolOf(Buffer.from(first, 'latin1')), protocol);
  });
}
