import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { describe, test } from 'node:test';
import { status } from '@grpc/grpc-js';
import { ERROR } from '#grpc/http2/error-code.ts';
import { FLAG, FRAME, frame } from '#grpc/http2/frame.ts';
import { framed } from '#grpc/http2/grpc-blocks.ts';
import { MAX_HEADER_BYTES, MAX_STREAMS } from './answering.ts';
import { failure } from './method.ts';
import { echo, serveEcho } from './testing/echo-server.ts';
import { callHeaders, field, REQUEST, uint32 } from './testing/frames.ts';
import { call, closed, openSession } from './testing/http2-client.ts';
import { connectRaw } from './testing/raw-connection.ts';

const END_BOTH = FLAG.endStream | FLAG.endHeaders;
const headers = (...fields: readonly Uint8Array[]) =>
  frame(FRAME.headers, END_BOTH, 1, callHeaders(...fields));
const block = (...bytes: readonly number[]) =>
  frame(FRAME.headers, END_BOTH, 1, Buffer.concat([REQUEST, Buffer.from(bytes)]));
const window = (stream: number, bytes: number) =>
  frame(FRAME.windowUpdate, 0, stream, uint32(bytes));
const open = frame(FRAME.headers, FLAG.endHeaders, 1, callHeaders());
const ping = frame(FRAME.ping, 0, 0, Buffer.alloc(8));

test('a stream of more than 128 fields is reset, and its connection goes on', async t => {
  const { port } = await serveEcho(t);
  const connection = await connectRaw(t, port);
  const fields = Array.from({ length: 128 }, (_, n) => field(`x-${n}`, '1'));
  await connection.write(headers(...fields), ping);
  await connection.until(({ resets, counts }) => resets.has(1) && counts.has(FRAME.ping));
  assert.ok(!connection.isClosed);
  assert.equal(connection.heard.resets.get(1), ERROR.enhanceYourCalm);
});

describe(`of headers of more than ${MAX_HEADER_BYTES} bytes the caller is told, and its connection goes on:`, () => {
  for (const [what, more] of [
    [
      'a few long ones',
      { 'x-a': 'x'.repeat(32_000), 'x-b': 'x'.repeat(32_000), 'x-c': 'x'.repeat(1_536) },
    ],
    [
      'many short ones',
      Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`x-${n}`, 'x'.repeat(620)])),
    ],
    [
      'one again and again, which the wire has once (an HPACK bomb)',
      { 'x-a': Array(40).fill('y'.repeat(2_000)) },
    ],
  ] as const)
    test(what, async t => {
      const session = openSession(t, (await serveEcho(t)).port);
      const { headers: told } = await call(session, 'x', more);
      assert.equal(told['grpc-status'], String(status.RESOURCE_EXHAUSTED));
      assert.equal(told['grpc-message'], 'the headers have more than 65536 bytes');
      assert.equal((await call(session, 'x', { 'x-a': 'x'.repeat(62_000) })).text, 'x');
    });
});

test('a stream beyond those allowed is refused, and one that ends makes room', async t => {
  const { port } = await serveEcho(t);
  const connection = await connectRaw(t, port);
  const streams = Array.from({ length: MAX_STREAMS + 1 }, (_, n) =>
    frame(FRAME.headers, FLAG.endHeaders, 2 * n + 1, callHeaders()),
  );
  await connection.write(...streams);
  await connection.until(({ resets }) => resets.size > 0);
  assert.deepEqual([...connection.heard.resets], [[2 * MAX_STREAMS + 1, ERROR.refusedStream]]);
  await connection.write(frame(FRAME.rstStream, 0, 1, uint32(8)));
  const next = 2 * MAX_STREAMS + 3;
  await connection.write(
    frame(FRAME.headers, FLAG.endHeaders, next, callHeaders()),
    frame(FRAME.data, FLAG.endStream, next, framed(Buffer.from('x'))),
  );
  await connection.until(({ counts }) => counts.has(FRAME.data));
  assert.equal(connection.heard.resets.size, 1);
});

describe('a connection ends with a GOAWAY that says why, after', () => {
  for (const [what, code, frames] of [
    [
      'a frame longer than 16 KiB',
      ERROR.frameSizeError,
      [open, frame(FRAME.data, 0, 1, Buffer.alloc(16_385))],
    ],
    ['a field of an index that there is not', ERROR.compressionError, [block(0xff, 0x00)]],
    ['an index without end', ERROR.compressionError, [block(...Buffer.alloc(12, 0xff))]],
    [
      'a table of fields larger than allowed',
      ERROR.compressionError,
      [frame(FRAME.headers, END_BOTH, 1, Buffer.from('3fe1ff03838684', 'hex'))],
    ],
    [
      'a text whose Huffman code is none',
      ERROR.compressionError,
      [block(0x00, 0x84, 0xff, 0xff, 0xff, 0xff, 0x00)],
    ],
    ['a field that ends before its length', ERROR.compressionError, [block(0x00, 0x05, 0x61)]],
    ['a window of its own that is too wide', ERROR.flowControlError, [window(0, 2 ** 31 - 1)]],
    ['a window that widens by nothing', ERROR.protocolError, [window(0, 0)]],
    [
      'DATA on a stream that has not begun',
      ERROR.protocolError,
      [frame(FRAME.data, 0, 7, Buffer.alloc(1))],
    ],
    [
      'a stream of an even number',
      ERROR.protocolError,
      [frame(FRAME.headers, END_BOTH, 2, REQUEST)],
    ],
    [
      'another frame within headers',
      ERROR.protocolError,
      [frame(FRAME.headers, 0, 1, REQUEST), ping],
    ],
    [
      'more CONTINUATION frames than it reads',
      ERROR.enhanceYourCalm,
      [
        frame(FRAME.headers, 0, 1, REQUEST),
        ...Array.from({ length: 10 }, () => frame(FRAME.continuation, 0, 1)),
      ],
    ],
  ] as const)
    test(what, async t => {
      const { port } = await serveEcho(t);
      const bystander = openSession(t, port);
      await call(bystander, 'x');
      const connection = await connectRaw(t, port);
      await connection.write(...frames);
      await connection.closed;
      assert.equal(connection.heard.goaway, code);
      assert.equal((await call(bystander, 'x')).text, 'x');
    });
});

describe('a name', () => {
  for (const [what, name] of [
    ['in upper case', 'X-Up'],
    ['of a field of HTTP/1.1 connections', 'connection'],
    ['of a pseudo-header behind others', ':path'],
  ] as const)
    test(`${what} ends the connection or its stream, and the call is not answered`, async t => {
      const { port } = await serveEcho(t);
      const connection = await connectRaw(t, port);
      await connection.write(headers(field(name, 'x')));
      await connection.until(({ resets }) => resets.has(1));
      assert.ok(connection.isClosed || connection.heard.resets.get(1) === ERROR.protocolError);
      assert.ok(!connection.heard.counts.has(FRAME.headers));
    });
});

test('a connection beyond those allowed is closed, others go on, and one that ends makes room', async t => {
  const { port } = await serveEcho(t, { limits: { maxConnections: 1 } });
  const first = openSession(t, port);
  assert.equal((await call(first, 'x')).text, 'x');
  const second = net.connect(port, '127.0.0.1').on('error', () => {});
  await closed(second.resume());
  assert.equal(second.bytesRead, 0);
  assert.equal((await call(first, 'x')).text, 'x');
  first.destroy();
  await once(first, 'close');
  let text = '';
  while (text !== 'x') text = (await call(openSession(t, port), 'x')).text;
});

test('a message longer than allowed is refused, also when it comes whole', async t => {
  const { port } = await serveEcho(t, { limits: { maxMessageBytes: 10 } });
  const session = openSession(t, port);
  assert.equal((await call(session, 'x'.repeat(10))).text, 'x'.repeat(10));
  const { headers: told } = await call(session, 'x'.repeat(11));
  assert.equal(told['grpc-status'], String(status.RESOURCE_EXHAUSTED));
});

test('the caller gets at least the start of a long failure', async t => {
  const wordy = { ...echo, handle: () => failure('NOT_FOUND', 'é'.repeat(9_000)) };
  const { port } = await serveEcho(t, { methods: [wordy] });
  const { headers: told } = await call(openSession(t, port), 'x');
  assert.equal(told['grpc-status'], String(status.NOT_FOUND));
  assert.ok(String(told['grpc-message']).startsWith('%C3%A9'.repeat(800)));
});
