import assert from 'node:assert/strict';
import { once } from 'node:events';
import http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { framed } from './http2/grpc-blocks.ts';
import { UnfinishedMessages } from './unfinished-messages.ts';

const KIB = 1024;

type Call = {
  readonly stream: http2.ClientHttp2Stream;
  /** Sends bytes, and resolves when the server has read them, or has closed the call. */
  send(bytes: Uint8Array): Promise<void>;
};

/** Starts a server that keeps at most so many bytes. Returns what begins a call to it. */
async function start(t: TestContext, most: number): Promise<() => Promise<Call>> {
  const unfinished = new UnfinishedMessages(most);
  const server = http2.createServer();
  const calls: http2.ServerHttp2Stream[] = [];
  server.on('stream', stream => {
    calls.push(stream.on('error', () => {}));
    unfinished.watch(stream);
    stream.respond();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const session = http2.connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  t.after(() => {
    session.destroy();
    server.close();
  });
  return async () => {
    const stream = session.request({ ':method': 'POST' });
    stream.on('error', () => {}).resume();
    await once(stream, 'response');
    const read = calls.at(-1);
    assert(read);
    const send = (bytes: Uint8Array) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      let left = bytes.length;
      const count = (chunk: Buffer) => {
        left -= chunk.length;
        if (left === 0) resolve();
      };
      read.on('data', count).once('close', resolve);
      if (read.closed) resolve();
      stream.write(bytes);
      return promise.then(() => void read.off('data', count).off('close', resolve));
    };
    return { stream, send };
  };
}

function closed(stream: http2.ClientHttp2Stream): Promise<void> {
  return new Promise(resolve => stream.once('close', () => resolve()));
}

/** The beginning of a message of which the last byte is missing. */
function unfinished(bytes: number): Uint8Array {
  return framed(new Uint8Array(bytes)).subarray(0, -1);
}

test('of too many unfinished messages the one that began first is ended', {
  timeout: 10_000,
}, async t => {
  const begin = await start(t, 100 * KIB);
  const [first, second, third] = [await begin(), await begin(), await begin()];
  await first.send(unfinished(40 * KIB));
  await second.send(unfinished(40 * KIB));
  const ended = closed(first.stream);
  await third.send(unfinished(40 * KIB));
  await ended;
  assert.equal(first.stream.rstCode, http2.constants.NGHTTP2_ENHANCE_YOUR_CALM);
  assert.deepEqual([second.stream.closed, third.stream.closed], [false, false]);
});

test('messages that have ended are not counted, in whatever pieces they come', async t => {
  const begin = await start(t, 100 * KIB);
  const waiting = await begin();
  await waiting.send(unfinished(40 * KIB));
  const call = await begin();
  const message = framed(new Uint8Array(30 * KIB));
  for (let round = 0; round < 10; round++) {
    await call.send(message.subarray(0, 3));
    await call.send(message.subarray(3, 20 * KIB));
    await call.send(Buffer.concat([message.subarray(20 * KIB), framed(new Uint8Array(0))]));
  }
  assert.deepEqual([waiting.stream.closed, call.stream.closed], [false, false]);
});

test('a message in very many pieces is counted with what each piece takes', {
  timeout: 10_000,
}, async t => {
  const begin = await start(t, 100 * KIB);
  const call = await begin();
  const ended = closed(call.stream);
  for (const byte of unfinished(2_000)) {
    await call.send(Uint8Array.of(byte));
    if (call.stream.closed) break;
  }
  await ended;
});

test('a call that is cancelled gives back what it kept', async t => {
  const begin = await start(t, 100 * KIB);
  const waiting = await begin();
  await waiting.send(unfinished(10 * KIB));
  for (let round = 0; round < 5; round++) {
    const call = await begin();
    await call.send(unfinished(60 * KIB));
    const ended = closed(call.stream);
    call.stream.close();
    await ended;
  }
  assert.equal(waiting.stream.closed, false);
});

test('a message that begins in the read in which another one ends is counted with all of that read', {
  timeout: 10_000,
}, async t => {
  const begin = await start(t, 100 * KIB);
  const first = await begin();
  const ended = closed(first.stream);
  // It comes as two frames of one read.
  const bytes = Buffer.concat([framed(new Uint8Array(20 * KIB)), unfinished(10)]);
  await first.send(bytes);
  for (let n = 0; n < 30 && !first.stream.closed; n++) await (await begin()).send(bytes);
  await ended;
  assert.equal(first.stream.rstCode, http2.constants.NGHTTP2_ENHANCE_YOUR_CALM);
});
