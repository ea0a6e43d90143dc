import assert from 'node:assert/strict';
import { once } from 'node:events';
import http2 from 'node:http2';
import net from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { status } from '@grpc/grpc-js';
import { FLAG, FRAME, frame, PREFACE } from '#grpc/http2/frame.ts';
import { framed } from '#grpc/http2/grpc-blocks.ts';
import type { UnaryLimits } from './answering.ts';
import { ECHO, serveEcho } from './testing/echo-server.ts';
import { REQUEST, requestHeaders, uint32 } from './testing/frames.ts';
import { call, closed, open, openSession, send } from './testing/http2-client.ts';

const MIB = 2 ** 20;
/** `accept-encoding: gzip, deflate`, of HPACK's static table. */
const ACCEPT_ENCODING = 0x90;

/** Opens a connection that sends the test's own frames, and throws the answers away. */
function rawConnection(t: TestContext, port: number): net.Socket {
  const socket = net.connect(port, '127.0.0.1').on('error', () => {});
  socket.resume();
  t.after(() => socket.destroy());
  socket.write(Buffer.concat([PREFACE, frame(FRAME.settings, 0, 0, Buffer.alloc(0))]));
  return socket;
}

/** Starts a server that is attacked, and another connection, which must go on. */
async function victim(t: TestContext, limits: Partial<UnaryLimits> = {}) {
  const { port } = await serveEcho(t, { limits });
  const bystander = openSession(t, port);
  const unharmed = async () => assert.equal((await call(bystander, 'x')).text, 'x');
  await unharmed();
  return { port, unharmed };
}

describe('the server closes a connection, and that alone, which floods it with', () => {
  for (const [what, flood] of [
    [
      'resets',
      (id: number) =>
        Buffer.concat([
          frame(FRAME.headers, 4, id, REQUEST),
          frame(FRAME.rstStream, 0, id, Buffer.from('00000008', 'hex')),
        ]),
    ],
    [
      'CONTINUATION frames',
      (id: number) =>
        id === 1
          ? frame(FRAME.headers, 0, 1, REQUEST)
          : frame(FRAME.continuation, 0, 1, Buffer.alloc(0)),
    ],
  ] as const)
    test(what, { timeout: 60_000 }, async t => {
      // The rate is so low that even a slow machine sends more than it allows.
      const { port, unharmed } = await victim(t, { resets: { burst: 10_000, perSecond: 100 } });
      const socket = rawConnection(t, port);
      const ended = closed(socket);
      let id = 1;
      const more = () => {
        for (let n = 0; n < 1_000 && !socket.destroyed; n++, id += 2) socket.write(flood(id));
        if (!socket.destroyed) setImmediate(more);
      };
      more();
      await ended;
      assert.ok(id < 200_000, `${id} streams`);
      await unharmed();
    });
});

describe('the server bears', () => {
  test('headers longer than it reads, of which it refuses that stream', async t => {
    const { port, unharmed } = await victim(t);
    const session = openSession(t, port);
    await call(session, 'x');
    const long = await call(session, 'x', { 'x-long': 'x'.repeat(66_000) });
    assert.equal(long.text, '');
    const isTold = long.headers['grpc-status'] === String(status.RESOURCE_EXHAUSTED);
    assert.ok(long.rstCode !== 0 || isTold);
    await unharmed();
  });

  test('more fields than it reads, on stream after stream', async t => {
    const { port, unharmed } = await victim(t);
    const socket = rawConnection(t, port);
    const fields = Buffer.concat([REQUEST, Buffer.alloc(200, ACCEPT_ENCODING)]);
    for (let id = 1; id < 10_000; id += 2) socket.write(frame(FRAME.headers, 5, id, fields));
    await unharmed();
    socket.destroy();
    await unharmed();
  });

  test('more calls at once than it allows: those within the limit are answered', async t => {
    const { port, unharmed } = await victim(t);
    const session = openSession(t, port);
    const [settings] = (await once(session, 'remoteSettings')) as [http2.Settings];
    assert.equal(settings.maxConcurrentStreams, 1_024);
    const texts = await Promise.all(
      Array.from({ length: 5_000 }, (_, n) => call(session, `late-${n}`)),
    );
    assert.ok(texts.every(({ text }, n) => text === String(n)));
    await unharmed();
  });

  test('calls that never go on', async t => {
    const { port, unharmed } = await victim(t);
    const session = openSession(t, port);
    for (let n = 0; n < 500; n++)
      open(session)
        .on('error', () => {})
        .write(Buffer.alloc(1));
    assert.equal((await call(session, 'x')).text, 'x');
    await unharmed();
    session.destroy();
    await unharmed();
  });

  test('unfinished messages only up to a bound for a connection', async t => {
    const { port } = await serveEcho(t, { limits: { maxPartialBytes: MIB } });
    const session = openSession(t, port);
    const half = framed(Buffer.alloc(600_000)).subarray(0, 400_000);
    const pieces = Array.from({ length: 6 }, () => open(session));
    const answers = pieces.map(async stream => {
      stream.on('error', () => {}).resume();
      stream.write(half);
      const [headers] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders];
      return headers['grpc-status'];
    });
    assert.equal(await Promise.race(answers), String(status.RESOURCE_EXHAUSTED));
    for (const stream of pieces) stream.close(http2.constants.NGHTTP2_CANCEL);
    await Promise.allSettled(pieces.map(stream => stream.destroyed || closed(stream)));
    const whole = framed(Buffer.alloc(600_000, 'x'));
    const { headers } = await send(session, whole);
    assert.equal(headers['grpc-status'], '0', 'what was held is free again');
  });

  test('unfinished messages of many connections only up to a bound, and then the oldest is refused', async t => {
    const { port, unharmed } = await victim(t, { maxKeptBytes: MIB });
    const half = framed(Buffer.alloc(600_000)).subarray(0, 400_000);
    const begin = async () => {
      const stream = open(openSession(t, port)).on('error', () => {});
      await new Promise(resolve => void stream.write(half, resolve));
      return stream;
    };
    const first = await begin();
    const refused = once(first, 'response') as Promise<[http2.IncomingHttpHeaders]>;
    const others = [await begin(), await begin()];
    const [headers] = await refused;
    assert.equal(headers['grpc-status'], String(status.RESOURCE_EXHAUSTED));
    assert.deepEqual(
      others.map(({ closed }) => closed),
      [false, false],
    );
    await unharmed();
  });

  test('answers that are not taken only up to a bound, and then the connection that waits longest ends', async t => {
    const { port, unharmed } = await victim(t, { maxKeptBytes: MIB });
    const begin = async () => {
      const session = openSession(t, port, { initialWindowSize: 0 });
      const begun = Array.from({ length: 10 }, async () => {
        const stream = open(session).on('error', () => {});
        stream.end(framed(Buffer.alloc(60_000)));
        await once(stream, 'response');
      });
      await Promise.all(begun);
      return session;
    };
    const first = await begin();
    const ended = once(first, 'close');
    const other = await begin();
    await ended;
    assert.equal(other.closed, false);
    await unharmed();
  });

  test('a message over the limit, which it refuses before it has come', async t => {
    const { port, unharmed } = await victim(t);
    const session = openSession(t, port);
    const { headers } = await send(session, framed(Buffer.alloc(5 * MIB)));
    assert.equal(headers['grpc-status'], String(status.RESOURCE_EXHAUSTED));
    assert.equal((await call(session, 'x')).text, 'x');
    await unharmed();
  });

  test('a message byte by byte', async t => {
    const { port } = await victim(t);
    const stream = open(openSession(t, port));
    stream.on('error', () => {}).resume();
    const answered = once(stream, 'trailers') as Promise<[http2.IncomingHttpHeaders]>;
    for (const byte of framed(Buffer.alloc(2_000, 'a'))) stream.write(Buffer.from([byte]));
    stream.end();
    assert.equal((await answered)[0]['grpc-status'], '0');
  });

  test('a reader that takes nothing: others are answered, and it is when it reads', async t => {
    const { port, unharmed } = await victim(t);
    const session = openSession(t, port, { initialWindowSize: 0 });
    const answers = Array.from({ length: 500 }, (_, n) => call(session, `${n}`));
    await unharmed();
    session.settings({ initialWindowSize: 65_535 });
    assert.ok((await Promise.all(answers)).every(({ text }, n) => text === String(n)));
  });

  test('a peer that closes its side, or all of it, in the middle', async t => {
    const { port, unharmed } = await victim(t);
    for (const cut of ['end', 'destroy'] as const) {
      const socket = rawConnection(t, port);
      socket.write(frame(FRAME.headers, 4, 1, REQUEST));
      const ended = closed(socket);
      socket[cut]();
      await ended;
    }
    await unharmed();
  });

  for (const [what, path] of [
    ['call', ECHO],
    ['question for reflection', '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo'],
    ['call of nothing', '/a.B/C'],
  ] as const)
    test(`a ${what} that is reset in the packet which begins it`, async t => {
      const { port, unharmed } = await victim(t);
      const begun = frame(FRAME.headers, FLAG.endHeaders, 1, requestHeaders(path));
      rawConnection(t, port).write(Buffer.concat([begun, frame(FRAME.rstStream, 0, 1, uint32(8))]));
      await unharmed();
      await unharmed();
    });

  test('a preface and then garbage', async t => {
    const { port, unharmed } = await victim(t);
    const socket = net.connect(port, '127.0.0.1').on('error', () => {});
    socket.resume().end(Buffer.concat([PREFACE, Buffer.alloc(1_000, 0xff)]));
    await closed(socket);
    await unharmed();
  });
});

test('a peer that is gone without a word is found out', { timeout: 30_000 }, async t => {
  const { port } = await serveEcho(t, { limits: { keepAlive: { everyMs: 20, timeoutMs: 20 } } });
  const socket = rawConnection(t, port);
  await closed(socket);
});

test('a peer that answers pings stays', async t => {
  const { port } = await serveEcho(t, {
    limits: { keepAlive: { everyMs: 10, timeoutMs: 30_000 } },
  });
  const session = openSession(t, port);
  for (let n = 0; n < 5; n++) await once(session, 'ping');
  assert.equal((await call(session, 'x')).text, 'x');
});
