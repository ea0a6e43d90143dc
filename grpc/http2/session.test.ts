import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ERROR } from './error-code.ts';
import { FLAG, FRAME, frame } from './frame.ts';
import { encodeFields } from './hpack-encode.ts';
import { begin, CALL, data, headers, nth, PING, reset, window } from './testing/begin-session.ts';

/** The peer's confirmation of a GOAWAY. */
const HEARD = frame(FRAME.ping, FLAG.ack, 0, Buffer.from('goodbye '));

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
    const padded = Buffer.concat([
      Buffer.from([3, 0, 0, 0, 0, 9]),
      CALL.subarray(0, 2),
      Buffer.alloc(3),
    ]);
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

describe('what is on its way is no mistake:', () => {
  test('DATA, trailers and windows of a stream that we have ended', () => {
    const { session, streams, said, tell } = begin();
    tell(headers(1, 4));
    session.streams.sender.refuse(nth(streams, 0), encodeFields([[':status', '415']]));
    assert.deepEqual(said().slice(1), [`rstStream 0 1: ${ERROR.noError}`]);
    const late = [
      data(1, 'x', 0),
      window(1, 9),
      headers(1, 5, encodeFields([['a', 'b']])),
      reset(1),
      PING,
    ];
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

  test('calls that cross a GOAWAY are answered, and of later ones only the headers are read, for the table of fields', () => {
    const { session, streams, said, tell } = begin();
    tell(headers(1));
    session.drain();
    session.drain();
    assert.deepEqual(said(), ['goaway 0 0: 0', 'ping 0 0: 8']);
    assert.deepEqual(tell(headers(3), HEARD), [`goaway 0 0: 0`]);
    assert.deepEqual(tell(headers(5, 4), data(5, 'x'), reset(5), HEARD, PING), ['ping 1 0: 8']);
    assert.equal(streams.length, 2);
    for (const stream of [0, 1]) {
      assert.ok(!session.isOver);
      session.streams.sender.respond(nth(streams, stream), Buffer.from('x'));
    }
    assert.ok(session.isOver);
    said();
    assert.deepEqual(tell(PING), []);
  });

  test('an answer to a ping that was none of ours', () => {
    const { session, streams, tell } = begin();
    assert.deepEqual(tell(HEARD, headers(1)), []);
    assert.equal(streams.length, 1);
    assert.ok(!session.isOver);
  });
});

test('GOAWAY lets any stream come, until the peer has heard of it: then it names the last that came', () => {
  const { put, session } = begin();
  const lastStream = (bytes: Buffer) => bytes.readUInt32BE(9);
  session.drain();
  assert.equal(lastStream(put()), 2 ** 31 - 1);
  session.receive(Buffer.concat([headers(1), headers(3), HEARD]));
  assert.equal(lastStream(put()), 3);
});

test('when the last call has ended behind GOAWAY, nothing is read any more', () => {
  const { session, said, tell } = begin();
  tell(headers(1));
  session.drain();
  tell(HEARD);
  said();
  assert.deepEqual(tell(reset(1), PING), []);
  assert.ok(session.isOver);
});
