import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cases } from '#protos/testing/cases.ts';
import { pick, seededRandom } from '#protos/testing/random.ts';
import { HeaderBlocks } from './header-blocks.ts';
import { encodeFields } from './hpack-encode.ts';
import { RequestHead } from './request-head.ts';

const LIMITS = { maxFields: 20, maxBytes: 4_096 };
const REQUEST = [
  [':method', 'POST'],
  [':scheme', 'http'],
  [':path', '/a'],
] as const;

function readWith(blocks: HeaderBlocks, bytes: Buffer) {
  const head = blocks.readHead(bytes, 0, bytes.length);
  return head instanceof RequestHead ? head.values('x') : head;
}

/** Returns a block with the field `x`, which the reader is to keep. */
function keeping(value: string): Buffer {
  const field = encodeFields([['x', value]]);
  field[0] = 0x40;
  return Buffer.concat([encodeFields(REQUEST), field]);
}

const NEWEST = Buffer.concat([encodeFields(REQUEST), Buffer.from([0x80 | 62])]);

test('equal blocks are one request, as long as the table of fields stays', () => {
  const blocks = new HeaderBlocks(LIMITS);
  readWith(blocks, keeping('1'));
  const [first, second] = [0, 1].map(() => blocks.readHead(NEWEST, 0, NEWEST.length));
  assert.ok(first instanceof RequestHead);
  assert.equal(second, first);
});

test('the same bytes say something else when the table has changed', () => {
  const blocks = new HeaderBlocks(LIMITS);
  for (const value of ['1', '2', '3']) {
    assert.equal(readWith(blocks, keeping(value)), value);
    for (let n = 0; n < 3; n++) assert.equal(readWith(blocks, NEWEST), value);
  }
});

test('a block that changes the table is decoded each time', () => {
  const blocks = new HeaderBlocks(LIMITS);
  for (const value of ['0', '0', '1']) assert.equal(readWith(blocks, keeping(value)), value);
  const at = (index: number) => Buffer.concat([encodeFields(REQUEST), Buffer.from([0x80 | index])]);
  assert.deepEqual(
    [62, 63, 64].map(index => readWith(blocks, at(index))),
    ['1', '0', '0'],
  );
});

test('what is remembered is never other than what is decoded', () => {
  const random = seededRandom(13);
  const [remembering, decoding] = [new HeaderBlocks(LIMITS), new HeaderBlocks(LIMITS)];
  const plain = encodeFields([...REQUEST, ['x', 'plain']]);
  // Too long to be remembered, so that the next block is decoded.
  const long = encodeFields([...REQUEST, ['y', 'y'.repeat(2_000)]]);
  for (let n = 0; n < cases({ all: 5_000, quick: 1_250 }); n++) {
    const index = Buffer.from([0x80 | (62 + Math.floor(random() * 3))]);
    const block = pick(
      [plain, plain, keeping(String(n)), Buffer.concat([encodeFields(REQUEST), index])],
      random,
    );
    const attempt = (blocks: HeaderBlocks) => {
      try {
        return readWith(blocks, block);
      } catch (error) {
        return String(error);
      }
    };
    const forget = encodeFields([...REQUEST, ['z', String(n)]]);
    decoding.readHead(long, 0, long.length);
    decoding.readHead(forget, 0, forget.length);
    assert.equal(attempt(remembering), attempt(decoding));
  }
});

describe('a request is malformed', () => {
  for (const [what, fields] of [
    ['without a method', REQUEST.slice(1)],
    ['without a scheme', [REQUEST[0], REQUEST[2]]],
    ['without a path', REQUEST.slice(0, 2)],
    ['with an empty path', [...REQUEST.slice(0, 2), [':path', '']]],
    ['with two paths', [...REQUEST, [':path', '/b']]],
    ['with a status', [...REQUEST, [':status', '200']]],
    ['with a pseudo-header behind others', [['x', 'y'], ...REQUEST]],
    ['with a name in upper case', [...REQUEST, ['X', 'y']]],
    ['with a name that has a blank', [...REQUEST, ['x y', 'y']]],
    ['with an empty name', [...REQUEST, ['', 'y']]],
    ['with a line break in a value', [...REQUEST, ['x', 'a\r\nb']]],
    ['with a NUL in a value', [...REQUEST, ['x', 'a\0b']]],
    ['with a blank before a value', [...REQUEST, ['x', ' a']]],
    ['with a field of connections', [...REQUEST, ['transfer-encoding', 'chunked']]],
    ['with another te than trailers', [...REQUEST, ['te', 'gzip']]],
    ['with a length that is none', [...REQUEST, ['content-length', '-1']]],
    ['with two lengths', [...REQUEST, ['content-length', '1'], ['content-length', '2']]],
  ] as readonly (readonly [string, readonly (readonly [string, string])[]])[])
    test(what, () =>
      assert.equal(readWith(new HeaderBlocks(LIMITS), encodeFields(fields)), 'malformed'),
    );
});

test('too many fields or bytes are distinguished from malformed ones', () => {
  const many = Array.from({ length: 30 }, (_, n) => [`x-${n}`, ''] as const);
  assert.equal(
    readWith(new HeaderBlocks(LIMITS), encodeFields([...REQUEST, ...many])),
    'too many fields',
  );
  const long = encodeFields([...REQUEST, ['x', 'y'.repeat(4_000)]]);
  assert.equal(readWith(new HeaderBlocks(LIMITS), long), 'too long');
});
