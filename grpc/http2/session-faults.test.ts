import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ERROR } from './error-code.ts';
import { FRAME, frame } from './frame.ts';
import { encodeFields } from './hpack-encode.ts';
import {
  begin,
  CALL,
  data,
  firstWindow,
  headers,
  nth,
  PING,
  reset,
  window,
} from './testing/begin-session.ts';

describe('a stream is reset, and the connection goes on, after', () => {
  const length = (value: string) => encodeFields([['content-length', value]]);
  const withLength = (value: string) => Buffer.concat([CALL, length(value)]);
  for (const [what, code, frames] of [
    ['a window of it that widens by nothing', ERROR.protocolError, [headers(1), window(1, 0)]],
    [
      'a window of it that is too wide',
      ERROR.flowControlError,
      [headers(1), window(1, 2 ** 31 - 1)],
    ],
    ['DATA behind its end', ERROR.streamClosed, [headers(1), data(1, 'x')]],
    ['HEADERS behind its end', ERROR.streamClosed, [headers(1), headers(1)]],
    [
      'trailers that are not its end',
      ERROR.protocolError,
      [headers(1, 4), headers(1, 4, length('1'))],
    ],
    ['trailers with a pseudo-header', ERROR.protocolError, [headers(1, 4), headers(1)]],
    [
      'DATA of more than its length',
      ERROR.protocolError,
      [headers(1, 4, withLength('1')), data(1, 'xy')],
    ],
    [
      'DATA of less than its length',
      ERROR.protocolError,
      [headers(1, 4, withLength('3')), data(1, 'xy')],
    ],
    ['a length and no DATA', ERROR.protocolError, [headers(1, 5, withLength('3'))]],
    ['malformed headers', ERROR.protocolError, [headers(1, 5, CALL.subarray(1))]],
  ] as const)
    test(what, () => {
      const { tell } = begin();
      assert.deepEqual(tell(...frames), [`rstStream 0 1: ${code}`]);
      assert.deepEqual(tell(PING), ['ping 1 0: 8']);
    });

  test('it is one more than allowed', () => {
    const { tell } = begin();
    assert.deepEqual(tell(headers(1), headers(3), headers(5), headers(7)), [
      `rstStream 0 7: ${ERROR.refusedStream}`,
    ]);
  });
});

const NOTHING = Buffer.alloc(0);

describe('the connection ends after', () => {
  const block = (...bytes: readonly number[]) => headers(1, 5, Buffer.from(bytes));
  for (const [what, code, frames] of [
    ['a frame other than SETTINGS at first', ERROR.protocolError, undefined],
    ['PUSH_PROMISE', ERROR.protocolError, [frame(FRAME.pushPromise, 4, 1, CALL)]],
    ['an even stream', ERROR.protocolError, [headers(2)]],
    ['HEADERS on no stream', ERROR.protocolError, [headers(0)]],
    ['HEADERS on a stream that is closed', ERROR.streamClosed, [headers(3), headers(1)]],
    ['DATA on a stream that is idle', ERROR.protocolError, [data(1, 'x')]],
    ['RST_STREAM of a stream that is idle', ERROR.protocolError, [reset(1)]],
    ['a window of a stream that is idle', ERROR.protocolError, [window(1, 1)]],
    [
      'padding longer than its frame',
      ERROR.protocolError,
      [headers(1, 4), frame(0, 8, 1, Buffer.from([1]))],
    ],
    [
      'DATA without the length of its padding',
      ERROR.frameSizeError,
      [headers(1, 4), frame(0, 8, 1, NOTHING)],
    ],
    [
      'HEADERS without the length of their padding',
      ERROR.frameSizeError,
      [frame(1, 0x2d, 1, NOTHING)],
    ],
    [
      'padding within a priority',
      ERROR.protocolError,
      [frame(1, 0x2d, 1, Buffer.from([1, 0, 0, 0, 0, 0]))],
    ],
    [
      'HEADERS shorter than their priority',
      ERROR.frameSizeError,
      [frame(1, 0x25, 1, Buffer.alloc(4))],
    ],
    ['a frame within headers', ERROR.protocolError, [headers(1, 1), PING]],
    ['CONTINUATION of another stream', ERROR.protocolError, [headers(1, 1), frame(9, 4, 3, CALL)]],
    ['CONTINUATION of nothing', ERROR.protocolError, [frame(9, 4, 1, CALL)]],
    ['a field that there is not', ERROR.compressionError, [block(0xff, 0)]],
    ['a window of nothing', ERROR.protocolError, [window(0, 0)]],
    ['a window too wide', ERROR.flowControlError, [window(0, 2 ** 31 - 1)]],
    ['a setting of windows too wide', ERROR.flowControlError, [firstWindow(2 ** 31)]],
    [
      'a setting that makes a window too wide',
      ERROR.flowControlError,
      [headers(1), window(1, 9), firstWindow(2 ** 31 - 1)],
    ],
    ['SETTINGS of 5 bytes', ERROR.frameSizeError, [frame(4, 0, 0, Buffer.alloc(5))]],
    ['SETTINGS of a stream', ERROR.protocolError, [frame(4, 0, 1, Buffer.alloc(0))]],
    [
      'an answer to SETTINGS that says something',
      ERROR.frameSizeError,
      [frame(4, 1, 0, Buffer.alloc(6))],
    ],
    ['SETTINGS of 33 entries', ERROR.enhanceYourCalm, [frame(4, 0, 0, Buffer.alloc(33 * 6))]],
    ['PING of 7 bytes', ERROR.frameSizeError, [frame(6, 0, 0, Buffer.alloc(7))]],
    ['PING of a stream', ERROR.protocolError, [frame(6, 0, 1, Buffer.alloc(8))]],
    ['PRIORITY of 4 bytes', ERROR.frameSizeError, [frame(2, 0, 1, Buffer.alloc(4))]],
    ['PRIORITY of no stream', ERROR.protocolError, [frame(2, 0, 0, Buffer.alloc(5))]],
    ['GOAWAY of a stream', ERROR.protocolError, [frame(7, 0, 1, Buffer.alloc(8))]],
    [
      'more padding without content than is of use',
      ERROR.enhanceYourCalm,
      [
        headers(1, 4),
        ...Array.from({ length: 60 }, () => frame(FRAME.data, 8, 1, Buffer.alloc(1))),
      ],
    ],
    ['more PINGs than are of use', ERROR.enhanceYourCalm, Array.from({ length: 60 }, () => PING)],
    [
      'more resets than are of use',
      ERROR.enhanceYourCalm,
      Array.from({ length: 9 }, (_, n) => Buffer.concat([headers(2 * n + 1), reset(2 * n + 1)])),
    ],
  ] as const)
    test(what, () => {
      const { session, tell, bodies, opening } = begin(frames === undefined ? PING : undefined);
      const said = frames === undefined ? opening : tell(...frames);
      assert.equal(said.at(-1), `goaway 0 0: ${code}`);
      assert.ok(session.isOver);
      assert.deepEqual(tell(PING), [], 'nothing is answered any more');
      for (const body of bodies.values()) assert.ok(body.endsWith('|'), 'its calls have ended');
    });
});

test('time, and calls that are answered, make up for frames without use', () => {
  const { clock, session, streams, tell, said } = begin();
  const some = Array.from({ length: 30 }, () => PING);
  tell(...some);
  clock.now += 2_500;
  assert.equal(tell(...some).length, 30);
  for (let id = 1; id < 20; id += 2) {
    tell(headers(id));
    session.streams.sender.respond(nth(streams, (id - 1) / 2), Buffer.from('x'));
    said();
    assert.equal(tell(...some.slice(0, 15)).length, 15);
  }
  assert.ok(!session.isOver);
});

test('so do calls that are refused before their message has come', () => {
  const { session, streams, tell } = begin();
  for (let n = 0; n < 100; n++) {
    tell(headers(2 * n + 1, 4));
    session.streams.sender.refuse(nth(streams, n), CALL);
    tell(data(2 * n + 1, 'late'));
  }
  assert.ok(!session.isOver);
});

test('windows that let an answer go, if only byte by byte, are of use', () => {
  const { session, streams, tell, said } = begin(firstWindow(0));
  tell(headers(1));
  session.streams.sender.respond(nth(streams, 0), Buffer.alloc(70_000));
  said();
  for (let n = 0; n < 65_535; n++) tell(window(1, 1));
  for (let n = 65_535; n < 70_004; n++) tell(window(1, 1), window(0, 1));
  assert.deepEqual(tell(window(1, 1), window(0, 1)), ['data 0 1: 1', 'headers 5 1: 15']);
  for (let n = 0; n < 60; n++) tell(window(0, 1));
  assert.ok(session.isOver);
});

test('a peer that opens too many streams, before it has read how many it may, loses those alone', () => {
  const { session, tell } = begin();
  tell(...Array.from({ length: 39 }, () => PING));
  tell(headers(1), headers(3), headers(5));
  for (let id = 7; id < 17; id += 2)
    assert.deepEqual(tell(headers(id, 4), data(id, 'x')), [
      `rstStream 0 ${id}: ${ERROR.refusedStream}`,
    ]);
  assert.ok(!session.isOver);
  tell(headers(17));
  assert.ok(session.isOver, 'it goes on for too long');
});
