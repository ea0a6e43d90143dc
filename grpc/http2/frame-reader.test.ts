import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { seededRandom } from '#protos/testing/random.ts';
import { ConnectionError, ERROR } from './error-code.ts';
import { frame, MAX_FRAME_BYTES, PREFACE } from './frame.ts';
import { FrameReader } from './frame-reader.ts';

/** Returns the frames in these pieces, each as a text. */
function read(pieces: readonly Buffer[]): readonly string[] {
  const frames: string[] = [];
  const reader = new FrameReader((type, flags, stream, bytes, start, end) =>
    frames.push(`${type} ${flags} ${stream} ${bytes.toString('hex', start, end)}`),
  );
  for (const piece of pieces) reader.push(piece);
  return frames;
}

const FRAMES = [
  frame(4, 0, 0, Buffer.alloc(0)),
  frame(1, 4, 1, Buffer.from('abc')),
  frame(0, 1, 1, Buffer.alloc(300, 'x')),
  frame(0xee, 0xff, 2 ** 31 - 1, Buffer.from('z')),
];
const BYTES = Buffer.concat([PREFACE, ...FRAMES]);
const WHOLE = read([BYTES]);

test('all frames of a piece are told', () => {
  assert.deepEqual(WHOLE, [
    '4 0 0 ',
    '1 4 1 616263',
    `0 1 1 ${'78'.repeat(300)}`,
    `238 255 ${2 ** 31 - 1} 7a`,
  ]);
});

test('wherever the bytes are cut, the frames are the same', () => {
  for (let at = 0; at <= BYTES.length; at++)
    assert.deepEqual(read([BYTES.subarray(0, at), BYTES.subarray(at)]), WHOLE, `cut at ${at}`);
});

test('however many pieces there are, the frames are the same', () => {
  const random = seededRandom(5);
  for (let n = 0; n < 200; n++) {
    const pieces: Buffer[] = [];
    for (let at = 0; at < BYTES.length; ) {
      const end = at + 1 + Math.floor(random() * 20);
      pieces.push(BYTES.subarray(at, end));
      at = end;
    }
    assert.deepEqual(read(pieces), WHOLE);
  }
});

test('the first bit of a stream says nothing', () => {
  const reserved = Buffer.from(FRAMES[1] ?? []);
  reserved[5] = 0x80;
  assert.deepEqual(read([Buffer.concat([PREFACE, reserved])]), ['1 4 1 616263']);
});

describe('these end the connection:', () => {
  for (const [what, code, bytes] of [
    ['another preface', ERROR.protocolError, Buffer.from('PRI * HTTP/1.1')],
    [
      'a frame longer than 16 KiB',
      ERROR.frameSizeError,
      Buffer.concat([PREFACE, frame(0, 0, 1, Buffer.alloc(MAX_FRAME_BYTES + 1)).subarray(0, 9)]),
    ],
  ] as const)
    for (const cut of [0, 1, bytes.length - 1])
      test(`${what}, cut at ${cut}`, () =>
        assert.throws(
          () => read([bytes.subarray(0, cut), bytes.subarray(cut)]),
          (error: unknown) => error instanceof ConnectionError && error.code === code,
        ));
});
