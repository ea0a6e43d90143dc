import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crlEnd } from './crl-end.ts';

const sequence = (...parts: readonly Buffer[]) => item(0x30, Buffer.concat(parts));
const item = (tag: number, content: Buffer) =>
  Buffer.concat([Buffer.from([tag, 0x82, content.length >> 8, content.length & 0xff]), content]);
const utc = (text: string) => item(0x17, Buffer.from(text));
const generalized = (text: string) => item(0x18, Buffer.from(text));

/** A list without a signature, which is not needed here. */
const list = (...times: readonly Buffer[]) => sequence(sequence(sequence(), sequence(), ...times));

for (const [what, der, end] of [
  ['of this century', list(utc('260101000000Z'), utc('491231235959Z')), '2049-12-31T23:59:59.000Z'],
  ['of the last one', list(utc('500101000000Z'), utc('991231235959Z')), '1999-12-31T23:59:59.000Z'],
  [
    'with four digits of its year',
    list(utc('260101000000Z'), generalized('20500101000000Z')),
    '2050-01-01T00:00:00.000Z',
  ],
  ['that it does not say', list(utc('260101000000Z')), undefined],
  ['that is no time', list(utc('260101000000Z'), utc('soon')), undefined],
  ['of nothing', Buffer.alloc(0), undefined],
  ['of what is cut', list(utc('260101000000Z'), utc('491231235959Z')).subarray(0, 25), undefined],
] as const) {
  test(`the end of a revocation list ${what} is ${end}`, () => {
    const found = crlEnd(der);
    assert.equal(found === undefined ? undefined : new Date(found).toISOString(), end);
  });
}
