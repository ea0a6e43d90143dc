import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ERROR } from './error-code.ts';
import { FLAG, FRAME, frame, PREFACE, readUint31 } from './frame.ts';
import { encodeFields } from './hpack-encode.ts';
import { BlockPool, Output } from './output.ts';
import { Session } from './session.ts';
import type { Stream } from './stream.ts';

const LIMITS = {
  maxStreams: 3,
  maxFields: 20,
  maxBytes: 4_096,
  resets: { burst: 5, perSecond: 1 },
  idleFrames: { burst: 40, perSecond: 10 },
};
const NAME = Object.fromEntries(Object.entries(FRAME).map(([name, type]) => [type, name]));
const CALL = encodeFields([
  [':method', 'POST'],
  [':scheme', 'http'],
  [':path', '/a'],
]);

const uint32 = (value: number) => Buffer.from([value >>> 24, value >>> 16, value >>> 8, value]);
const headers = (id: number, flags = 5, block: Uint8Array = CALL) => frame(FRAME.headers, flags, id, block);
const data = (id: number, text: string, flags = 1) => frame(FRAME.data, flags, id, Buffer.from(text));
const window = (id: number, bytes: number) => frame(FRAME.windowUpdate, 0, id, uint32(bytes));
const reset = (id: number) => frame(FRAME.rstStream, 0, id, uint32(8));
const firstWindow = (bytes: number) =>
  frame(FRAME.settings, 0, 0, Buffer.concat([Buffer.from([0, 4]), uint32(bytes)]));
const PING = frame(FRAME.ping, 0, 0, Buffer.from('12345678'));

/** A session that has begun, and what it is told of its requests. */
function begin(first: Buffer = frame(FRAME.settings, 0, 0, Buffer.alloc(0))) {
  const output = new Output(new BlockPool());
  const streams: Stream[] = [];
  const bodies = new Map<number, string>();
  const clock = { now: 0 };
  const session = new Session(
    output,
    LIMITS,
    stream => {
      streams.push(stream);
      return {
        data: bytes => {
          bodies.set(stream.id, (bodies.get(stream.id) ?? '') + bytes.toString());
          return true;
        },
        end: () => {},
        close: () => bodies.set(stream.id, `${bodies.get(stream.id) ?? ''}|`),
      };
    },
    () => clock.now,
  );
  /** What is put out since the last time, a line for each frame. */
  const said = () => describeFrames(Buffer.concat([...output.take().parts]));
  const tell = (...frames: readonly Buffer[]) => {
    session.receive(Buffer.concat(frames));
    return said();
  };
  const opening = tell(Buffer.from(PREFACE), first);
  return { session, streams, bodies, clock, said, tell, opening };
}

function describeFrames(bytes: Buffer): readonly string[] {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.readUIntBE(at, 3);
    const [type, flags] = [bytes[at + 3] ?? 0, bytes[at + 4] ?? 0];
    const payload = bytes.subarray(at + 9, at + 9 + length);
    const numbers = type === FRAME.rstStream || type === FRAME.windowUpdate || type === FRAME.goaway;
    const what = numbers ? payload.readUInt32BE(type === FRAME.goaway ? 4 : 0) : length;
    lines.push(`${NAME[type]} ${flags} ${readUint31(bytes, at + 5)}: ${what}`);
    at += 9 + length;
  }
  return lines;
}

/** Of the stream that began as the n-th. */
function nth(streams: readonly Stream[], n: number): Stream {
  const stream = streams[n];
  assert.ok(stream !== undefined);
  return stream;
}

describe('a session', () => {
  test('begins with SETTINGS and a wide window, and answers SETTINGS', () => {
    assert.deepEqual(begin().opening, [
      'settings 0 0: 12',
      `windowUpdate 0 0: ${2 ** 20 - 65_535}`,
      'settings 1 0: 0',
    ]);
  });

  test('answers PING with its bytes, and knows when its own is answered', () => {
    const { session, tell } = begin();
    assert.deepEqual(tell(PING), ['ping 1 0: 8']);
    session.ping();
    assert.deepEqual(tell(frame(FRAME.ping, 1, 0, Buffer.alloc(8))), ['ping 0 0: 8']);
    assert.equal(session.pongs, 1);
  });

  test('answers a call with headers, message and trailers', () => {
    const { bodies, session, streams, said, tell } = begin();
    assert.deepEqual(tell(headers(1, 4), data(1, 'ab')), []);
    session.streams.sender.respond(nth(streams, 0), Buffer.from('xyz'));
    assert.deepEqual(
      said().map(line => line.replace(/\d+$/, '')),
      ['headers 4 1: ', 'data 0 1: ', 'headers 5 1: '],
    );
    assert.equal(bodies.get(1), 'ab|');
  });

  test('takes trailers for the end of a call', () => {
    const { session, streams, said, tell } = begin();
    tell(headers(1, 4), data(1, 'ab', 0), headers(1, 5, encodeFields([['a', 'b']])));
    session.streams.sender.respond(nth(streams, 0), Buffer.from('x'));
    assert.deepEqual(
      said().map(line => line.split(' ')[0]),
      ['headers', 'data', 'headers'],
    );
  });

  test('reads headers in pieces, padding and priorities, and drops what it does not know', () => {
    const { streams, tell } = begin();
    const padded = Buffer.concat([Buffer.from([3, 0, 0, 0, 0, 9]), CALL.subarray(0, 2), Buffer.alloc(3)]);
    const said = tell(
      headers(1, FLAG.padded | FLAG.priority | FLAG.endStream, padded),
      frame(FRAME.continuation, 0, 1, CALL.subarray(2, 3)),
      frame(FRAME.continuation, FLAG.endHeaders, 1, CALL.subarray(3)),
      frame(0xbe, 0xff, 1, Buffer.from('?')),
    );
    assert.deepEqual(said, []);
    assert.equal(streams.length, 1);
  });
});

describe('the windows of the peer', () => {
  test('an answer waits for that of its stream, then for that of the connection', () => {
    const { session, streams, said, tell } = begin(firstWindow(2));
    tell(headers(1));
    session.streams.sender.respond(nth(streams, 0), Buffer.from('12345'));
    assert.deepEqual(said(), ['headers 4 1: 20', 'data 0 1: 2']);
    assert.deepEqual(tell(window(1, 3)), ['data 0 1: 3']);
    assert.equal(session.streams.sender.unsentBytes, 5);
    assert.deepEqual(tell(firstWindow(100)), ['settings 1 0: 0', 'data 0 1: 5', 'headers 5 1: 15']);
    assert.equal(session.streams.sender.unsentBytes, 0);
  });

  test('what is sent on all streams together is no more than that of the connection', () => {
    const { session, streams, said, tell } = begin(firstWindow(2 ** 31 - 1));
    tell(headers(1), headers(3));
    const [first, second] = [nth(streams, 0), nth(streams, 1)];
    session.streams.sender.respond(first, Buffer.alloc(60_000));
    session.streams.sender.respond(second, Buffer.alloc(60_000));
    const sent = said().filter(line => line.startsWith('data'));
    const total = (lines: readonly string[]) =>
      lines.reduce((sum, line) => sum + Number(line.split(': ')[1]), 0);
    assert.equal(total(sent), 65_535);
    const rest = tell(window(0, 60_000)).filter(line => line.startsWith('data'));
    assert.equal(total(rest), 120_010 - 65_535);
  });

  test('short answers count for that of the connection too', () => {
    const { session, streams, said, tell } = begin();
    for (let n = 0; n < 14; n++) {
      tell(headers(2 * n + 1));
      session.streams.sender.respond(nth(streams, n), Buffer.alloc(4_995));
    }
    assert.equal(
      said()
        .filter(line => line.startsWith('data'))
        .at(-1),
      'data 0 27: 535',
    );
    assert.equal(session.streams.sender.unsentBytes, 14 * 5_000 - 65_535);
  });

  test('may become less than nothing', () => {
    const { session, streams, said, tell } = begin(firstWindow(4));
    tell(headers(1));
    session.streams.sender.respond(nth(streams, 0), Buffer.from('12345'));
    said();
    assert.deepEqual(tell(firstWindow(0), window(1, 4)), ['settings 1 0: 0']);
    assert.deepEqual(tell(window(1, 1)), ['data 0 1: 1']);
  });

  test('nothing waits any more for a stream that is reset', () => {
    const { session, streams, tell } = begin(firstWindow(0));
    tell(headers(1));
    session.streams.sender.respond(nth(streams, 0), Buffer.from('12345'));
    assert.equal(session.streams.sender.unsentBytes, 10);
    assert.deepEqual(tell(reset(1), window(0, 9), firstWindow(9)).slice(1), ['settings 1 0: 0']);
    assert.equal(session.streams.sender.unsentBytes, 0);
  });
});

describe('our windows', () => {
  test('open again when half of them is read, padding with it', () => {
    const { tell } = begin();
    const piece = frame(FRAME.data, FLAG.padded, 1, Buffer.from([200, ...Buffer.alloc(16_300)]));
    assert.deepEqual(tell(headers(1, 4), piece, piece), []);
    assert.deepEqual(tell(piece), [`windowUpdate 0 1: ${3 * 16_301}`]);
  });

  test('no more comes on a stream than its reader has allowed', () => {
    const output = new Output(new BlockPool());
    const never = { data: () => false, end: () => {}, close: () => {} };
    const session = new Session(
      output,
      LIMITS,
      () => never,
      () => 0,
    );
    session.receive(Buffer.concat([PREFACE, frame(FRAME.settings, 0, 0, Buffer.alloc(0)), headers(1, 4)]));
    const piece = frame(FRAME.data, 0, 1, Buffer.alloc(16_384));
    session.receive(Buffer.concat([piece, piece, piece]));
    output.take();
    session.receive(piece);
    assert.deepEqual(describeFrames(Buffer.concat([...output.take().parts])), [
      `rstStream 0 1: ${ERROR.flowControlError}`,
    ]);
  });
});

test('what readers have not read is held against the connection, until they have or their streams end', () => {
  const output = new Output(new BlockPool());
  const streams: Stream[] = [];
  const reader = { data: () => false, end: () => {}, close: () => {} };
  const onRequest = (stream: Stream) => {
    streams.push(stream);
    return reader;
  };
  const limits = { ...LIMITS, maxStreams: 40, resets: { burst: 20, perSecond: 1 } };
  const session = new Session(output, limits, onRequest, () => 0);
  session.receive(Buffer.concat([PREFACE, frame(FRAME.settings, 0, 0, Buffer.alloc(0))]));
  const three = (id: number) =>
    Buffer.concat([
      headers(id, 4),
      ...Array.from({ length: 3 }, () => frame(FRAME.data, 0, id, Buffer.alloc(16_384))),
    ]);
  const window = () =>
    describeFrames(Buffer.concat([...output.take().parts])).filter(line => line.startsWith('window'));
  window();
  for (let n = 0; n < 20; n++) session.receive(three(2 * n + 1));
  assert.deepEqual(window(), []);
  session.streams.read(nth(streams, 0), 3 * 16_384);
  assert.deepEqual(window(), [`windowUpdate 0 1: ${3 * 16_384}`]);
  for (let n = 0; n < 10; n++) session.receive(reset(2 * n + 3));
  assert.deepEqual(window(), [`windowUpdate 0 0: ${11 * 3 * 16_384}`]);
  for (let n = 20; n < 30; n++) session.receive(three(2 * n + 1));
  assert.ok(!session.isOver);
  for (let n = 30; n < 34; n++) session.receive(three(2 * n + 1));
  assert.ok(session.isOver, 'more than the window of the connection');
});

describe('a stream is reset, and the connection goes on, after', () => {
  const length = (value: string) => encodeFields([['content-length', value]]);
  const withLength = (value: string) => Buffer.concat([CALL, length(value)]);
  for (const [what, code, frames] of [
    ['a window of it that widens by nothing', ERROR.protocolError, [headers(1), window(1, 0)]],
    ['a window of it that is too wide', ERROR.flowControlError, [headers(1), window(1, 2 ** 31 - 1)]],
    ['DATA behind its end', ERROR.streamClosed, [headers(1), data(1, 'x')]],
    ['HEADERS behind its end', ERROR.streamClosed, [headers(1), headers(1)]],
    ['trailers that are not its end', ERROR.protocolError, [headers(1, 4), headers(1, 4, length('1'))]],
    ['trailers with a pseudo-header', ERROR.protocolError, [headers(1, 4), headers(1)]],
    ['DATA of more than its length', ERROR.protocolError, [headers(1, 4, withLength('1')), data(1, 'xy')]],
    ['DATA of less than its length', ERROR.protocolError, [headers(1, 4, withLength('3')), data(1, 'xy')]],
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

describe('what is on its way is no mistake:', () => {
  test('DATA, trailers and windows of a stream that we have ended', () => {
    const { session, streams, said, tell } = begin();
    tell(headers(1, 4));
    session.streams.sender.refuse(nth(streams, 0), encodeFields([[':status', '415']]));
    assert.deepEqual(said().slice(1), [`rstStream 0 1: ${ERROR.noError}`]);
    const late = [data(1, 'x', 0), window(1, 9), headers(1, 5, encodeFields([['a', 'b']])), reset(1), PING];
    assert.deepEqual(tell(...late), ['ping 1 0: 8']);
  });

  test('trailers of such a stream are read all the same, for the table of fields', () => {
    const { session, streams, tell } = begin();
    tell(headers(1, 4));
    session.streams.sender.refuse(nth(streams, 0), encodeFields([[':status', '415']]));
    const kept = encodeFields([['x', 'y']]);
    kept[0] = 0x40;
    tell(headers(1, 5, kept), headers(3, 5, Buffer.concat([CALL, Buffer.from([0x80 | 62])])));
    assert.equal(streams.length, 2);
    assert.ok(!session.isOver);
  });

  test('calls behind GOAWAY, whose headers are read for the table of fields', () => {
    const { session, streams, said, tell } = begin();
    tell(headers(1));
    session.drain();
    assert.deepEqual(said(), ['goaway 0 0: 0']);
    assert.deepEqual(tell(headers(3, 4), data(3, 'x'), reset(3), PING), ['ping 1 0: 8']);
    assert.equal(streams.length, 1);
    assert.ok(!session.isOver);
    session.streams.sender.respond(nth(streams, 0), Buffer.from('x'));
    assert.ok(session.isOver);
    said();
    assert.deepEqual(tell(PING), []);
  });
});

test('when the last call has ended behind GOAWAY, nothing is read any more', () => {
  const { session, said, tell } = begin();
  tell(headers(1));
  session.drain();
  said();
  assert.deepEqual(tell(reset(1), PING), []);
  assert.ok(session.isOver);
});

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
    ['padding longer than its frame', ERROR.protocolError, [headers(1, 4), frame(0, 8, 1, Buffer.from([1]))]],
    ['HEADERS shorter than their priority', ERROR.frameSizeError, [frame(1, 0x25, 1, Buffer.alloc(4))]],
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
    ['an answer to SETTINGS that says something', ERROR.frameSizeError, [frame(4, 1, 0, Buffer.alloc(6))]],
    ['SETTINGS of 33 entries', ERROR.enhanceYourCalm, [frame(4, 0, 0, Buffer.alloc(33 * 6))]],
    ['PING of 7 bytes', ERROR.frameSizeError, [frame(6, 0, 0, Buffer.alloc(7))]],
    ['PING of a stream', ERROR.protocolError, [frame(6, 0, 1, Buffer.alloc(8))]],
    ['PRIORITY of 4 bytes', ERROR.frameSizeError, [frame(2, 0, 1, Buffer.alloc(4))]],
    ['PRIORITY of no stream', ERROR.protocolError, [frame(2, 0, 0, Buffer.alloc(5))]],
    ['GOAWAY of a stream', ERROR.protocolError, [frame(7, 0, 1, Buffer.alloc(8))]],
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
