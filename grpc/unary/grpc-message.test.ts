import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeGrpcMessage } from './grpc-message.ts';

for (const [text, encoded] of [
  ['', ''],
  ['domain is empty', 'domain is empty'],
  [' !"#$&~', ' !"#$&~'],
  ['100%', '100%25'],
  ['a\r\nb\0', 'a%0D%0Ab%00'],
  ['é🚦\x7f', '%C3%A9%F0%9F%9A%A6%7F'],
  ['\ud800', '%EF%BF%BD'],
] as const)
  test(`${JSON.stringify(text)} is sent as ${encoded || 'nothing'}`, () =>
    assert.equal(encodeGrpcMessage(text), encoded));

test('what is encoded decodes to the same text', () => {
  const text = String.fromCodePoint(...Array.from({ length: 0x7ff }, (_, code) => code));
  assert.equal(decodeURIComponent(encodeGrpcMessage(text)), text);
});
