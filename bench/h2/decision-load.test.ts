import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { FRAME, frame } from '#grpc/http2/frame.ts';
import { ECHO, serveEcho } from '#grpc/unary/testing/echo-server.ts';
import { callsOf, inTurn } from './calls.ts';
import { askAsFastAsPossible, askAtRate } from './decision-load.ts';

const callsWith = (text: string) => callsOf({ path: ECHO, next: inTurn([Buffer.from(text)]) });

test('every call is answered, beyond what the server takes at once too', async t => {
  const { port } = await serveEcho(t);
  const target = { port, connections: 2, calls: callsWith('größe') };
  const fast = await askAsFastAsPossible({
    ...target,
    atOnce: 1_500,
    enough: answered => answered >= 4_000,
  });
  assert.deepEqual([fast.times.length, fast.failures], [4_000, new Map()]);
  const even = await askAtRate({ ...target, perSecond: 2_000, seconds: 0.1 });
  assert.deepEqual([even.times.length, even.failures], [200, new Map()]);
});

test('an error for an answer ends a load that may not have any, and is counted at a rate', async t => {
  const { port } = await serveEcho(t);
  const target = { port, connections: 1, calls: callsWith('fail') };
  await assert.rejects(
    askAsFastAsPossible({ ...target, atOnce: 4, enough: () => false }),
    /an error for an answer/,
  );
  const { failures } = await askAtRate({ ...target, perSecond: 1_000, seconds: 0.02 });
  assert.deepEqual(failures, new Map([['an error for an answer', 20]]));
});

test('a server that hangs up ends the load and says why, if it said', async t => {
  const goAway = Buffer.concat([Buffer.from([0, 0, 0, 0, 0, 0, 0, 11]), Buffer.from('too many')]);
  const port = await serve(t, socket =>
    socket.once('data', () => socket.end(frame(FRAME.goaway, 0, 0, goAway))),
  );
  const target = { port, connections: 2, calls: callsWith('x') };
  const load = askAsFastAsPossible({ ...target, atOnce: 4, enough: () => false });
  await assert.rejects(load, /GOAWAY 11 too many/);
  const { failures, times } = await askAtRate({ ...target, perSecond: 1_000, seconds: 0.02 });
  assert.deepEqual([times, failures], [[], new Map([['GOAWAY 11 too many', 20]])]);
});

async function serve(t: TestContext, onSocket: (socket: Socket) => void): Promise<number> {
  const server = createServer(onSocket).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
