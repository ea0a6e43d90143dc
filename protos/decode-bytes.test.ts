import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decodeBytes } from './decode-bytes.ts';
import { messageType } from './root.ts';

const REQUEST = messageType('envoy.service.discovery.v3.DiscoveryRequest');
const fromHex = (hex: string) => Buffer.from(hex.replaceAll(' ', ''), 'hex');

describe('a request of discovery', () => {
  for (const [what, hex] of [
    ['a text that runs past its message', '0a 05 3161'],
    ['a text that runs past the message that it is in', '12 03 0a0561 2204 74797065'],
    ['a text that is no UTF-8', '0a 01 ff'],
    ['half a character', '0a 02 c3 28'],
    ['a lone surrogate', '1a 03 eda080'],
    ['a name that is no UTF-8', '1a 01 61 1a 02 61ff'],
    ['a text within a message that is no UTF-8', '12 03 0a01ff'],
    ['a key of a map within it that is no UTF-8', '12 09 1a07 0a05 0a01ff 1200'],
  ] as const)
    test(`with ${what} is rejected`, () => {
      assert.throws(() => decodeBytes(REQUEST, fromHex(hex)));
    });

  for (const [what, hex, expected] of [
    ['other letters', '0a 02 c3a4', { version_info: 'ä' }],
    ['nothing', '', {}],
    ['the end of a text at the end of its message', '12 03 0a0161', { node: { id: 'a' } }],
    ['bytes that nobody reads', 'fa07 01 ff', {}],
  ] as const)
    test(`with ${what} is accepted`, () => {
      const decoded = decodeBytes(REQUEST, fromHex(hex));
      assert.deepEqual(JSON.parse(JSON.stringify(decoded)), expected);
    });

  test('is heard when it rejects with a message that Envoy has cut within a character', () => {
    const cut = decodeBytes(REQUEST, fromHex('0a0131 3204 1202 61c3 2a0174'));
    assert.deepEqual(JSON.parse(JSON.stringify(cut)), {
      version_info: '1',
      error_detail: { message: 'a\ufffd' },
      response_nonce: 't',
    });
    assert.throws(
      () => decodeBytes(REQUEST, fromHex('3204 1202 61c3 0a01ff')),
      'other texts are not cut',
    );
  });
});
