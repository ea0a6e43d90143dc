import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FRAME, frame } from './frame.ts';
import { NO_TABLE } from './hpack-encode.ts';
import { begin, firstWindow, headers, nth, window } from './testing/begin-session.ts';

const tableOf = (...sizes: readonly number[]) => {
  const entries = sizes.map(size => Buffer.from([0, 1, 0, 0, size >> 8, size & 0xff]));
  return frame(FRAME.settings, 0, 0, Buffer.concat(entries));
};

/** Tells for each block of headers in turn whether it begins with giving the table up. */
function givesUp(bytes: Buffer): readonly boolean[] {
  const told: boolean[] = [];
  for (let at = 0; at < bytes.length; at += 9 + bytes.readUIntBE(at, 3)) {
    const isHeaders = bytes[at + 3] === FRAME.headers;
    if (isHeaders) told.push(bytes.subarray(at + 9, at + 9 + NO_TABLE.length).equals(NO_TABLE));
  }
  return told;
}

describe('a peer that wants a smaller table of fields than all begin with', () => {
  for (const [what, settings] of [
    ['none', tableOf(0)],
    ['a little smaller', tableOf(4_095)],
    ['none, and in the same SETTINGS as large as before', tableOf(0, 4_096)],
  ] as const)
    test(`(${what}) learns once, by the first headers, that we have none`, () => {
      const { session, streams, put, tell } = begin(settings);
      tell(headers(1), headers(3));
      session.streams.sender.respond(nth(streams, 0), Buffer.from('x'));
      session.streams.sender.refuse(nth(streams, 1), Buffer.from([0x8d]));
      assert.deepEqual(givesUp(put()), [true, false, false]);
    });

  test('is told by those of a refusal, where they are the first', () => {
    const { session, streams, put, tell } = begin(tableOf(0));
    tell(headers(1), headers(3));
    session.streams.sender.refuse(nth(streams, 0), Buffer.from([0x8d]));
    session.streams.sender.refuse(nth(streams, 1), Buffer.from([0x8d]));
    assert.deepEqual(givesUp(put()), [true, false]);
  });

  test('is told by the end of an answer, when it says so while the answer waits', () => {
    const { session, streams, put, tell } = begin(firstWindow(0));
    tell(headers(1));
    session.streams.sender.respond(nth(streams, 0), Buffer.from('x'));
    assert.deepEqual(givesUp(put()), [false]);
    session.receive(Buffer.concat([tableOf(100), window(1, 9)]));
    assert.deepEqual(givesUp(put()), [true]);
  });
});

test('a peer that wants a larger table of fields gets no answer', () => {
  const { session, streams, put, tell } = begin(tableOf(4_096, 65_535));
  tell(headers(1));
  session.streams.sender.respond(nth(streams, 0), Buffer.from('x'));
  assert.deepEqual(givesUp(put()), [false, false]);
});
