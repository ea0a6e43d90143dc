import assert from 'node:assert/strict';
import { FRAME, frame, PREFACE, readUint31 } from '../frame.ts';
import { encodeFields } from '../hpack-encode.ts';
import { BlockPool, Output } from '../output.ts';
import { Session } from '../session.ts';
import type { Stream } from '../stream.ts';

export const LIMITS = {
  maxStreams: 3,
  maxFields: 20,
  maxBytes: 4_096,
  resets: { burst: 5, perSecond: 1 },
  idleFrames: { burst: 40, perSecond: 10 },
};
const NAME = Object.fromEntries(Object.entries(FRAME).map(([name, type]) => [type, name]));
export const CALL = encodeFields([
  [':method', 'POST'],
  [':scheme', 'http'],
  [':path', '/a'],
]);

const uint32 = (value: number) => Buffer.from([value >>> 24, value >>> 16, value >>> 8, value]);
export const headers = (id: number, flags = 5, block: Uint8Array = CALL) =>
  frame(FRAME.headers, flags, id, block);
export const data = (id: number, text: string, flags = 1) =>
  frame(FRAME.data, flags, id, Buffer.from(text));
export const window = (id: number, bytes: number) =>
  frame(FRAME.windowUpdate, 0, id, uint32(bytes));
export const reset = (id: number) => frame(FRAME.rstStream, 0, id, uint32(8));
export const firstWindow = (bytes: number) =>
  frame(FRAME.settings, 0, 0, Buffer.concat([Buffer.from([0, 4]), uint32(bytes)]));
export const PING = frame(FRAME.ping, 0, 0, Buffer.from('12345678'));

/** Begins a session, and records the requests that it reports. */
export function begin(first: Buffer = frame(FRAME.settings, 0, 0, Buffer.alloc(0))) {
  const pool = new BlockPool();
  const output = new Output(pool);
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
  /** What was put out since the last call, a line for each frame. */
  const put = () => {
    const { blocks, parts } = output.take();
    const bytes = Buffer.concat([...parts]);
    pool.giveBack(blocks);
    return bytes;
  };
  const said = () => describeFrames(put());
  const tell = (...frames: readonly Buffer[]) => {
    session.receive(Buffer.concat(frames));
    return said();
  };
  const opening = tell(Buffer.from(PREFACE), first);
  return { session, streams, bodies, clock, put, said, tell, opening };
}

/**
 * Returns a line for each frame, with its type, flags, stream, and its number or else its length.
 */
export function describeFrames(bytes: Buffer): readonly string[] {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.readUIntBE(at, 3);
    const [type, flags] = [bytes[at + 3] ?? 0, bytes[at + 4] ?? 0];
    const payload = bytes.subarray(at + 9, at + 9 + length);
    const numbers =
      type === FRAME.rstStream || type === FRAME.windowUpdate || type === FRAME.goaway;
    const what = numbers ? payload.readUInt32BE(type === FRAME.goaway ? 4 : 0) : length;
    lines.push(`${NAME[type]} ${flags} ${readUint31(bytes, at + 5)}: ${what}`);
    at += 9 + length;
  }
  return lines;
}

/** Returns the stream that began as the n-th. */
export function nth(streams: readonly Stream[], n: number): Stream {
  const stream = streams[n];
  assert.ok(stream !== undefined);
  return stream;
}
