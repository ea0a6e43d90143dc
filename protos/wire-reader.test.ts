import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { tagOf, WireError, WireReader } from './wire-reader.ts';
import { WIRE } from './wire-writer.ts';

const reader = (hex: string) => new WireReader(Buffer.from(hex.replaceAll(' ', ''), 'hex'));

describe('varints', () => {
  for (const [hex, low, whole] of [
    ['00', 0, 0],
    ['7f', 127, 127],
    ['80 01', 128, 128],
    ['80 00', 0, 0],
    ['ff ff ff ff 0f', 2 ** 32 - 1, 2 ** 32 - 1],
    ['80 80 80 80 10', 0, 2 ** 32],
    ['ff ff ff ff ff ff ff ff ff 01', 2 ** 32 - 1, 2 ** 64],
    ['81 80 80 80 80 80 80 80 80 00', 1, 1],
    ['81 80 80 80 80 80 80 80 80 7e', 1, 1],
  ] as const)
    test(`${hex} is ${low} in 32 bits, ${whole} in 64`, () => {
      assert.equal(reader(hex).uint32(), low);
      assert.equal(reader(hex).uint64(), whole);
    });

  for (const hex of ['', '80', 'ff ff ff ff ff ff ff ff ff', 'ff ff ff ff ff ff ff ff ff 80 01'])
    test(`"${hex}" is none`, () => {
      assert.throws(() => reader(hex).uint32(), WireError);
      assert.throws(() => reader(hex).uint64(), WireError);
    });
});

describe('strings', () => {
  for (const [what, hex, text] of [
    ['UTF-8', '04 f09f9aa6', '🚦'],
    ['nothing', '00', ''],
    ['a byte that is no UTF-8', '03 61ff62', 'a\ufffdb'],
    ['a lone surrogate', '03 eda080', '\ufffd\ufffd\ufffd'],
  ] as const)
    test(`of ${what}`, () => assert.equal(reader(hex).string(), text));

  for (const [what, hex, text] of [
    ['UTF-8', '04 f09f9aa6', '🚦'],
    ['UTF-8 with U+FFFD', '03 efbfbd', '\ufffd'],
    ['Latin-1', '03 61ff62', 'aÿb'],
  ] as const)
    test(`of a header in ${what}`, () => assert.equal(reader(hex).headerValue(), text));

  for (const hex of ['01', '05 61', 'ff ff ff ff 0f 61'])
    test(`"${hex}" is cut off`, () => assert.throws(() => reader(hex).string(), WireError));
});

test('what a nested message says of lengths cannot leave it', () => {
  const outer = reader('02 0561 62 63 64 65 66');
  outer.enter();
  assert.throws(() => outer.string(), WireError);
});

describe('unknown fields are skipped', () => {
  for (const [what, hex] of [
    ['a varint', '08 ff01'],
    ['8 bytes', '09 0102030405060708'],
    ['a text', '0a 03 616263'],
    ['4 bytes', '0d 01020304'],
    ['an empty group', '0b 0c'],
    ['a group with fields and a group', '0b 10 01 13 0a 01 61 14 0c'],
  ] as const)
    test(what, () => {
      const fields = reader(`${hex} 18 05`);
      fields.skip(fields.tag());
      assert.equal(fields.tag(), tagOf(3, WIRE.varint));
      assert.equal(fields.uint32(), 5);
      assert.equal(fields.more, false);
    });

  for (const [what, hex] of [
    ['8 bytes cut off', '09 01'],
    ['4 bytes cut off', '0d 010203'],
    ['a group without end', '0b 10 01'],
    ['a group that ends as another', '0b 14'],
    ['an end without a group', '0c'],
    ['a wire type that is none', '0e'],
    ['groups in groups without end', '0b'.repeat(100_000)],
  ] as const)
    test(`but not ${what}`, () => {
      const fields = reader(hex);
      assert.throws(() => fields.skip(fields.tag()), WireError);
    });

  test('and no field has the number 0', () => assert.throws(() => reader('00').tag(), WireError));
});
