import assert from 'node:assert/strict';
import { Duplex } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { Connection } from './connection.ts';
import { FLAG, FRAME, frame, PREFACE } from './frame.ts';
import { encodeFields } from './hpack-encode.ts';
import { BlockPool } from './output.ts';
import type { Stream } from './stream.ts';

const LIMITS = {
  ...{ maxStreams: 1_000, maxFields: 20, maxBytes: 4_096 },
  resets: { burst: 100, perSecond: 1 },
  idleFrames: { burst: 100, perSecond: 1 },
};
const CALL = encodeFields([
  [':method', 'POST'],
  [':scheme', 'http'],
  [':path', '/a'],
]);
const EMPTY = Buffer.alloc(0);
const SETTINGS = frame(FRAME.settings, 0, 0, EMPTY);
/** Windows as wide as they can be. */
const WIDE = Buffer.concat([
  frame(FRAME.settings, 0, 0, Buffer.from('00047fffffff', 'hex')),
  frame(FRAME.windowUpdate, 0, 0, Buffer.from('7fff0000', 'hex')),
]);
const calls = (count: number, first = 1) =>
  Buffer.concat(
    Array.from({ length: count }, (_, n) => frame(FRAME.headers, 5, first + 2 * n, CALL)),
  );

/** Opens a connection on a socket whose peer reads what is written when the test says so. */
function open(t: TestContext, answer: (stream: Stream, connection: Connection) => void) {
  const writes: number[] = [];
  const taken: (() => void)[] = [];
  let isTaking = true;
  const socket = new Duplex({
    read: () => {},
    write: (bytes: Buffer, _encoding, done) => {
      writes.push(bytes.length);
      if (isTaking) done();
      else taken.push(done);
    },
    writev: (all, done) => {
      writes.push(all.reduce((sum, { chunk }) => sum + chunk.length, 0));
      if (isTaking) done();
      else taken.push(done);
    },
  });
  t.after(() => socket.destroy());
  const pool = new BlockPool();
  const options = {
    ...{ pool, limits: LIMITS, now: () => performance.now() },
    keepAlive: { everyMs: 30_000, timeoutMs: 10_000 },
  };
  const connection = new Connection(socket, options, made => stream => {
    answer(stream, made);
    return undefined;
  });
  const take = (now: boolean) => {
    isTaking = now;
    if (now) for (const done of taken.splice(0)) done();
  };
  return { connection, socket, writes, take };
}

const turn = () => new Promise(resolve => setImmediate(resolve));

const respond = (bytes: number) => (stream: Stream, connection: Connection) => {
  connection.session.streams.sender.respond(stream, Buffer.alloc(bytes));
  connection.wrote();
};

test('what one read brings is answered by two writes: the first answer as soon as it is there, and the others', async t => {
  const writesAtSecond: number[] = [];
  const { socket, writes } = open(t, (stream, connection) => {
    if (stream.id === 3) writesAtSecond.push(writes.length);
    respond(10)(stream, connection);
  });
  await turn();
  socket.push(Buffer.concat([PREFACE, SETTINGS]));
  await turn();
  writes.length = 0;
  socket.push(calls(50));
  await turn();
  assert.deepEqual(writesAtSecond, [1]);
  assert.equal(writes.length, 2);
});

test('what is answered later at once is one write too', async t => {
  const later: (() => void)[] = [];
  const { socket, writes } = open(t, (stream, connection) =>
    later.push(() => respond(10)(stream, connection)),
  );
  socket.push(Buffer.concat([PREFACE, SETTINGS, calls(50)]));
  await turn();
  writes.length = 0;
  await Promise.all(later.map(async run => run()));
  await turn();
  assert.equal(writes.length, 1);
});

test('nothing is read of a peer that does not take its answers, until it does', async t => {
  const { socket, take, writes } = open(t, respond(4_000));
  socket.push(Buffer.concat([PREFACE, WIDE]));
  await turn();
  take(false);
  socket.push(calls(20));
  await turn();
  socket.push(calls(20, 41));
  await turn();
  assert.ok(socket.isPaused());
  socket.push(calls(20, 81));
  await turn();
  const before = writes.reduce((sum, bytes) => sum + bytes, 0);
  take(true);
  for (let n = 0; n < 5; n++) await turn();
  assert.ok(!socket.isPaused());
  assert.ok(writes.reduce((sum, bytes) => sum + bytes, 0) - before >= 2 * 20 * 4_000);
});

test('a peer that reads gets the answers to all of its calls, long ones, when they come at once', async t => {
  const later: (() => void)[] = [];
  const { socket, writes } = open(t, (stream, connection) =>
    later.push(() => respond(20_000)(stream, connection)),
  );
  socket.push(Buffer.concat([PREFACE, WIDE, calls(1_000)]));
  await turn();
  for (const run of later) run();
  await turn();
  assert.ok(!socket.destroyed);
  assert.ok(writes.reduce((sum, bytes) => sum + bytes, 0) > 1_000 * 20_000);
});

test('a connection ends when more waits for its peer than is kept', async t => {
  const { socket } = open(t, respond(100_000));
  socket.push(Buffer.concat([PREFACE, SETTINGS, calls(100)]));
  await turn();
  assert.ok(!socket.destroyed);
  socket.push(calls(300, 201));
  await turn();
  assert.ok(socket.destroyed);
});

test('a peer that is told to go is not read for long', async t => {
  const { connection, socket } = open(t, respond(1));
  socket.push(Buffer.from('no preface'));
  await turn();
  assert.ok(socket.writableEnded, 'it has been told');
  assert.ok(connection.session.isOver);
  for (let n = 0; n < 10 && !socket.destroyed; n++) {
    socket.push(Buffer.alloc(64 * 1_024));
    await turn();
  }
  assert.ok(socket.destroyed);
});

test('drain ends the connection when its calls have ended', async t => {
  const later: (() => void)[] = [];
  const { connection, socket } = open(t, (stream, made) =>
    later.push(() => respond(10)(stream, made)),
  );
  socket.push(Buffer.concat([PREFACE, SETTINGS, calls(1)]));
  await turn();
  connection.drain();
  socket.push(frame(FRAME.ping, FLAG.ack, 0, Buffer.from('goodbye ')));
  await turn();
  assert.ok(!socket.writableEnded);
  later[0]?.();
  await turn();
  await turn();
  assert.ok(socket.writableEnded);
});
