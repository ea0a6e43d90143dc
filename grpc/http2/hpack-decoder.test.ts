import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cases } from '#protos/testing/cases.ts';
import { pick, seededRandom } from '#protos/testing/random.ts';
import { ConnectionError, ERROR } from './error-code.ts';
import { HpackDecoder } from './hpack-decoder.ts';
import { encodeFields } from './hpack-encode.ts';

const LIMITS = { maxFields: 128, maxBytes: 32_768 };

function decodeWith(decoder: HpackDecoder, hex: string): string {
  const bytes = Buffer.from(hex.replaceAll(' ', ''), 'hex');
  const { fields } = decoder.decode(bytes, 0, bytes.length);
  return fields.map(({ name, value }) => `${name}: ${value}`).join('\n');
}

const REQUESTS = [
  ':method: GET\n:scheme: http\n:path: /\n:authority: www.example.com',
  ':method: GET\n:scheme: http\n:path: /\n:authority: www.example.com\ncache-control: no-cache',
  ':method: GET\n:scheme: https\n:path: /index.html\n:authority: www.example.com\ncustom-key: custom-value',
];
const COOKIE = 'foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1';
const AT_21 = 'date: Mon, 21 Oct 2013 20:13:21 GMT\nlocation: https://www.example.com';
const RESPONSES = [
  `:status: 302\ncache-control: private\n${AT_21}`,
  `:status: 307\ncache-control: private\n${AT_21}`,
  `:status: 200\ncache-control: private\ndate: Mon, 21 Oct 2013 20:13:22 GMT\nlocation: https://www.example.com\ncontent-encoding: gzip\nset-cookie: ${COOKIE}`,
];
/** The examples of responses have a table of 256 bytes, so that fields leave it. */
const RESIZE = '3fe101';

for (const [what, lists, blocks] of [
  [
    'C.2.1',
    ['custom-key: custom-header'],
    ['400a637573746f6d2d6b65790d637573746f6d2d686561646572'],
  ],
  ['C.2.2', [':path: /sample/path'], ['040c2f73616d706c652f70617468']],
  ['C.2.3', ['password: secret'], ['100870617373776f726406736563726574']],
  ['C.2.4', [':method: GET'], ['82']],
  [
    'C.3',
    REQUESTS,
    [
      '828684410f7777772e6578616d706c652e636f6d',
      '828684be58086e6f2d6361636865',
      '828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565',
    ],
  ],
  [
    'C.4',
    REQUESTS,
    [
      '828684418cf1e3c2e5f23a6ba0ab90f4ff',
      '828684be5886a8eb10649cbf',
      '828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf',
    ],
  ],
  [
    'C.5',
    RESPONSES,
    [
      `${RESIZE}4803333032580770726976617465611d4d6f6e2c203231204f637420323031332032303a31333a323120474d546e1768747470733a2f2f7777772e6578616d706c652e636f6d`,
      '4803333037c1c0bf',
      '88c1611d4d6f6e2c203231204f637420323031332032303a31333a323220474d54c05a04677a69707738666f6f3d4153444a4b48514b425a584f5157454f50495541585157454f49553b206d61782d6167653d333630303b2076657273696f6e3d31',
    ],
  ],
  [
    'C.6',
    RESPONSES,
    [
      `${RESIZE}488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad171863c78f0b97c8e9ae82ae43d3`,
      '4883640effc1c0bf',
      '88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab77ad94e7821dd7f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007',
    ],
  ],
] as const)
  test(`the examples of RFC 7541, ${what}`, () => {
    const decoder = new HpackDecoder(LIMITS);
    assert.deepEqual(
      blocks.map(block => decodeWith(decoder, block)),
      lists,
    );
  });

test('a literal that comes again says the same, unless the table names it', () => {
  const decoder = new HpackDecoder(LIMITS);
  const path = '040c2f73616d706c652f70617468';
  for (let time = 0; time < 2; time++)
    assert.equal(decodeWith(decoder, `${path}0401 62${path}`).split('\n').length, 3);
  assert.equal(decodeWith(decoder, '040162'), ':path: b');
  assert.throws(() => decodeWith(decoder, path.slice(0, -2)), /ends before its length/);
  const [a, b, named] = ['40 0161 0131', '40 0162 0131', '0f2f 0178'];
  assert.equal(decodeWith(decoder, `${a}${named}`), 'a: 1\na: x');
  assert.equal(decodeWith(decoder, `${b}${named}`), 'b: 1\nb: x');
});

describe('these are no headers:', () => {
  for (const [what, hex] of [
    ['index 0', '80'],
    ['an index that there is not', 'be'],
    ['a name of an index that there is not', '7f00 0161'],
    ['an index without end', 'ffffffffffffffffffffff'],
    ['a field that ends within its name', '0005 61'],
    ['a field that ends before its value', '0001 61'],
    ['a text of 4 GiB, so it says', '007f ffffff0f'],
    ['a table larger than allowed', '3fe21f'],
    ['a table resized behind a field', '8220'],
    ['the end of a text in it', '0001 61 84 ffffffff'],
    ['a text padded with more than 7 bits', '0001 61 82 1fff'],
    ['a text padded with zeros', '0001 61 81 18'],
  ] as const)
    test(what, () =>
      assert.throws(
        () => decodeWith(new HpackDecoder(LIMITS), hex),
        (error: unknown) =>
          error instanceof ConnectionError && error.code === ERROR.compressionError,
      ),
    );
});

test('a field larger than the table empties it', () => {
  const decoder = new HpackDecoder(LIMITS);
  decodeWith(decoder, '4001610162');
  assert.equal(decodeWith(decoder, 'be'), 'a: b');
  const long = Buffer.from(encodeFields([['x', 'y'.repeat(4_096)]]));
  long[0] = 0x40;
  decodeWith(decoder, long.toString('hex'));
  assert.throws(() => decodeWith(decoder, 'be'), ConnectionError);
});

test('of a list that is too long its size is known, and it takes no room', () => {
  const decoder = new HpackDecoder(LIMITS);
  const long = Buffer.from(encodeFields([['x', 'y'.repeat(3_900)]]));
  long[0] = 0x40;
  const bomb = Buffer.concat([long, Buffer.alloc(10_000, 0x80 | 62)]);
  const { fields, count, bytes } = decoder.decode(bomb, 0, bomb.length);
  assert.deepEqual([count, bytes], [10_001, 10_001 * (3_900 + 1 + 32)]);
  assert.ok(fields.length < 10);
});

test('what is encoded decodes to the same list', () => {
  const random = seededRandom(7);
  const names = [':path', ':method', 'x', 'content-type', 'n'.repeat(200)];
  for (let n = 0; n < 300; n++) {
    const value = () => 'v'.repeat(Math.floor(random() * pick([1, 200, 20_000], random)));
    const list = Array.from({ length: 3 }, () => [pick(names, random), value()] as const);
    const bytes = encodeFields(list);
    const { fields } = new HpackDecoder({ maxFields: 9, maxBytes: 1e6 }).decode(
      bytes,
      0,
      bytes.length,
    );
    assert.deepEqual(
      fields.map(({ name, value: text }) => [name, text]),
      list,
    );
  }
});

test('noise is a list or an error, never anything else, and soon', () => {
  const random = seededRandom(11);
  const decoder = new HpackDecoder(LIMITS);
  for (let n = 0; n < cases({ all: 20_000, quick: 5_000 }); n++) {
    const bytes = Buffer.from(Array.from({ length: random() * 60 }, () => random() * 256));
    try {
      const { fields, count } = decoder.decode(bytes, 0, bytes.length);
      assert.ok(fields.length <= count);
    } catch (error) {
      assert.ok(error instanceof ConnectionError, String(error));
    }
  }
});
