import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ERROR } from './error-code.ts';
import { FLAG, FRAME, frame, PREFACE } from './frame.ts';
import { BlockPool, Output } from './output.ts';
import { Session } from './session.ts';
import type { Stream } from './stream.ts';
import {
  begin,
  describeFrames,
  firstWindow,
  headers,
  LIMITS,
  nth,
  reset,
  window,
} from './testing/begin-session.ts';

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

  test('all streams together send at most what the window of the connection allows', () => {
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

  test('a stream receives at most what its reader has allowed', () => {
    const output = new Output(new BlockPool());
    const never = { data: () => false, end: () => {}, close: () => {} };
    const session = new Session(
      output,
      LIMITS,
      () => never,
      () => 0,
    );
    session.receive(
      Buffer.concat([PREFACE, frame(FRAME.settings, 0, 0, Buffer.alloc(0)), headers(1, 4)]),
    );
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
    describeFrames(Buffer.concat([...output.take().parts])).filter(line =>
      line.startsWith('window'),
    );
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
